package parquet

import (
	"encoding/binary"
	"math"

	"recfs/formats/columnar"
	"recfs/nodes"
)

// dataHeader appends the PageHeader of a data page of so many bytes and values.
func dataHeader(b []byte, size int64, values, encoding int) []byte {
	t := &thrift{b: b}
	t.begin(0)
	pageHead(t, dataPage, size)
	t.begin(5) // DataPageHeader
	t.i32(1, values)
	t.i32(2, encoding)
	t.i32(3, rleEncoding) // of definition levels
	t.i32(4, rleEncoding) // of repetition levels
	t.end()
	t.end()
	return t.b
}

// dictionaryHeader appends the PageHeader of a dictionary of so many bytes and words.
func dictionaryHeader(b []byte, size int64, words int) []byte {
	t := &thrift{b: b}
	t.begin(0)
	pageHead(t, dictionaryPage, size)
	t.begin(7) // DictionaryPageHeader
	t.i32(1, words)
	t.i32(2, plainEncoding)
	t.end()
	t.end()
	return t.b
}

func pageHead(t *thrift, typ int, size int64) {
	t.i32(1, typ)
	t.i32(2, int(size))
	t.i32(3, int(size))
}

// encode returns the bytes of row group i, whose rows b has. If it has other rows than were counted, or
// more or fewer nulls or text, the error is [nodes.ErrStale]: they are of another version of the source.
func (l *Layout) encode(i int, b *columnar.Batch) ([]byte, error) {
	g := &l.table.Groups[i]
	if b.Rows() != g.Rows {
		return nil, nodes.SizeError(int64(g.Rows), int64(b.Rows()))
	}
	out := make([]byte, 0, l.groupSize(i))
	for c := range b.Columns {
		v := &b.Columns[c]
		p := planOf(&v.Column, g, c)
		start := len(out)
		if v.Words != nil {
			out = dictionaryHeader(out, p.dictionary, len(v.Words))
			for _, w := range v.Words {
				out = binary.LittleEndian.AppendUint32(out, uint32(len(w)))
				out = append(out, w...)
			}
		}
		out = dataHeader(out, p.page, p.values, encodingOf(&v.Column))
		if out = appendPage(out, v, g.Rows); int64(len(out)-start) != p.total() {
			return nil, nodes.SizeError(p.total(), int64(len(out)-start))
		}
	}
	return out, nil
}

// appendPage appends the content of a data page.
func appendPage(out []byte, v *columnar.Vector, rows int) []byte {
	switch {
	case v.Type == columnar.Texts:
		out = appendListLevels(out, v)
	case v.Nullable:
		out = appendLevels(out, v.Valid)
	}
	if v.Words != nil {
		width := wordWidth(v.Words)
		out = append(out, byte(width))
		return appendRun(out, len(v.Int32s), width, func(i int) uint { return uint(v.Int32s[i]) })
	}
	return appendValues(out, v)
}

// appendValues appends the values of a column, in the encoding PLAIN.
func appendValues(out []byte, v *columnar.Vector) []byte {
	le := binary.LittleEndian
	switch v.Type {
	case columnar.Bool:
		return appendBits(out, v.Bools)
	case columnar.Int32:
		for _, x := range v.Int32s {
			out = le.AppendUint32(out, uint32(x))
		}
	case columnar.Int64, columnar.Time:
		for _, x := range v.Int64s {
			out = le.AppendUint64(out, uint64(x))
		}
	case columnar.Float:
		for _, x := range v.Floats {
			out = le.AppendUint32(out, math.Float32bits(x))
		}
	case columnar.Double:
		for _, x := range v.Doubles {
			out = le.AppendUint64(out, math.Float64bits(x))
		}
	default:
		start := 0
		for _, end := range v.Ends {
			out = le.AppendUint32(out, uint32(end-start))
			out = append(out, v.Text[start:end]...)
			start = end
		}
	}
	return out
}

// appendLevels appends the definition levels of a column: 1 where there is a value.
func appendLevels(out []byte, valid []bool) []byte {
	out = binary.LittleEndian.AppendUint32(out, uint32(runSize(len(valid), 1)))
	out = appendRunHeader(out, len(valid))
	return appendBits(out, valid)
}

// appendListLevels appends the levels of a list of texts. A repetition level is 0 for the first item of a
// row. A definition level is 0 for a list that is null, 1 for an empty one, 2 for a null in one, and 3 for
// a text.
func appendListLevels(out []byte, v *columnar.Vector) []byte {
	var first, defined []uint
	start := 0
	for row, end := range v.ItemEnds {
		if start == end {
			level := uint(0)
			if v.Valid[row] {
				level = 1
			}
			first, defined = append(first, 0), append(defined, level)
		}
		for i := start; i < end; i++ {
			level := uint(2)
			if v.ValidItems[i] {
				level = 3
			}
			first, defined = append(first, min(uint(i-start), 1)), append(defined, level)
		}
		start = end
	}
	for width, levels := range [][]uint{first, defined} {
		out = binary.LittleEndian.AppendUint32(out, uint32(runSize(len(levels), width+1)))
		out = appendRun(out, len(levels), width+1, func(i int) uint { return levels[i] })
	}
	return out
}

// appendRunHeader appends the header of one bit-packed run of n values: how many groups of eight it has,
// and a one-bit that tells it from repeated values.
func appendRunHeader(out []byte, n int) []byte {
	return binary.AppendUvarint(out, uint64((n+7)/8)<<1|1)
}

// appendRun appends one bit-packed run: values of so many bits each, the least significant bit first,
// eight at a time.
func appendRun(out []byte, n, width int, at func(int) uint) []byte {
	out = appendRunHeader(out, n)
	start := len(out)
	out = append(out, make([]byte, (n+7)/8*width)...)
	for i := range n {
		value, bit := at(i), i*width
		for k := range width {
			out[start+(bit+k)/8] |= byte(value>>k&1) << ((bit + k) % 8)
		}
	}
	return out
}

// appendBits appends flags, eight a byte, the first in the least significant bit.
func appendBits(out []byte, flags []bool) []byte {
	for len(flags) > 0 {
		var b byte
		n := min(len(flags), 8)
		for i, f := range flags[:n] {
			if f {
				b |= 1 << i
			}
		}
		out, flags = append(out, b), flags[n:]
	}
	return out
}
