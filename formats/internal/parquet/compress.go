package parquet

import (
	"fmt"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"

	"recfs/formats/columnar"
)

// A memory is used for one row group after the other.
type memory struct {
	out    []byte
	page   []byte
	packed []byte
	dictionaries
}

// pageSize is about how many bytes a page has before compression.
const pageSize = 1 << 20

// column appends the chunk of a column, which has the number of rows as that of its values so far.
func (z *Encoder) column(m *memory, c *chunk, v *columnar.Vector) error {
	v.Measure()
	c.counted(&v.Counts)
	start, rows := len(m.out), c.values
	d, by := m.of(v), z.numbers
	if d == nil && (v.Type == columnar.Text || v.Type == columnar.Texts) {
		by = z.texts
	}
	switch {
	case d != nil:
		m.append(c, by, d.page, func(plain, stored int64) []byte { return dictionaryHeader(m.out, plain, stored, d.n) })
		c.data = int64(len(m.out) - start)
	case rises(v):
		c.encoding = deltaEncoding
	}
	c.boundTexts(v, d)
	if v.Type == columnar.Texts {
		c.values = int(v.Items + v.Empty)
	}
	for _, p := range pages(v, d, rows) {
		values := p.endRow - p.row
		if v.Type == columnar.Texts {
			values = c.values
		}
		if m.page = appendPage(m.page[:0], v, d, c.encoding, p); len(m.page) > math.MaxInt32 {
			return errTooLarge
		}
		m.append(c, by, m.page, func(plain, stored int64) []byte {
			return dataHeader(m.out, plain, stored, values, d.orElse(c.encoding))
		})
	}
	c.size = int64(len(m.out) - start)
	return nil
}

// appendPage appends the content of a data page, whose values are in an encoding if there is no
// dictionary. One with lists has all rows.
func appendPage(out []byte, v *columnar.Vector, d *dictionary, encoding int, p part) []byte {
	switch {
	case v.Origin:
		return appendOrigins(out, &v.Column, d, v.Origins)
	case v.Type == columnar.Texts:
		out = appendListLevels(out, v)
	case v.Nullable:
		out = appendLevels(out, v.Valid[p.row:p.endRow])
	}
	switch {
	case d != nil:
		w := beginIndexes(out, p.endValue-p.value, d.width())
		w.numbers(d.index[p.value:p.endValue])
		return w.end()
	case encoding == deltaEncoding:
		return appendDeltas(out, v, p.value, p.endValue)
	}
	return appendValues(out, v, p.value, p.endValue)
}

// append appends a page behind its header, which header appends.
func (m *memory) append(c *chunk, z *zstd.Encoder, page []byte, header func(plain, stored int64) []byte) {
	m.packed = z.EncodeAll(page, m.packed[:0])
	before := len(m.out)
	m.out = header(int64(len(page)), int64(len(m.packed)))
	c.plain += int64(len(m.out) - before + len(page))
	m.out = append(m.out, m.packed...)
}

// pages divides the rows of a column. Lists and runs are not divided.
func pages(v *columnar.Vector, d *dictionary, rows int) (list []part) {
	if v.Origin {
		return []part{{endRow: rows}}
	}
	all := whole(v, rows)
	size := valuesSize(&v.Column, int64(all.endValue), int64(len(v.Text)))
	if d != nil {
		size = int64(all.endValue * d.width() / 8)
	}
	if v.Type == columnar.Texts || size <= pageSize {
		return []part{all}
	}
	each := max(int(int64(rows)*pageSize/size), 1)
	for p := (part{}); p.endRow < rows; {
		p = part{row: p.endRow, endRow: min(p.endRow+each, rows), value: p.endValue}
		p.endValue = p.value + p.endRow - p.row
		if v.Nullable {
			for _, valid := range v.Valid[p.row:p.endRow] {
				if !valid {
					p.endValue--
				}
			}
		}
		list = append(list, p)
	}
	return list
}

// An Encoder writes tables as they are exported.
type Encoder struct {
	numbers, texts *zstd.Encoder // their EncodeAll, which many may use at a time
	spares         sync.Pool     // of *memory
}

// maxSpare is how many bytes of memory a row group leaves to the next: more than pages and what is
// given away at once mostly take.
const maxSpare = 4 << 20

func (z *Encoder) memory() *memory {
	if m, ok := z.spares.Get().(*memory); ok {
		return m
	}
	return &memory{}
}

func (z *Encoder) spare(m *memory) {
	if cap(m.out)+cap(m.page)+cap(m.packed)+m.size() <= maxSpare {
		z.spares.Put(m)
	}
}

// NewEncoder returns an Encoder for up to so many tables at a time. It takes less time for texts
// than for numbers, as of the latter it would miss much more that comes again.
func NewEncoder(n int) (*Encoder, error) {
	options := []zstd.EOption{
		zstd.WithEncoderConcurrency(n), zstd.WithWindowSize(pageSize), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false),
	}
	numbers, err := zstd.NewWriter(nil, options...)
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	texts, err := zstd.NewWriter(nil, append(options, zstd.WithEncoderLevel(zstd.SpeedFastest))...)
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return &Encoder{numbers: numbers, texts: texts}, nil
}
