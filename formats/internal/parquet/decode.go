package parquet

import (
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"recfs/formats/columnar"
	"recfs/formats/internal/wire"
)

// maxPage bounds what a page has before compression: those of a Writer have about a mebibyte, and
// more only if one text has, or one list.
const maxPage = 256 << 20

// ReadRows returns the rows of a row group in the given columns, which are those of the file from
// number first on.
func (f *Reader) ReadRows(group, first int, columns []columnar.Column) (*columnar.Batch, error) {
	b := columnar.NewCounter(columns) // with room for nothing: a footer proves no rows
	for i := range columns {
		if err := f.readColumn(group, first+i, &b.Columns[i]); err != nil {
			return nil, err
		}
	}
	b.Took(f.groups[group].rows)
	return b, nil
}

// readColumn appends the values that a column has in a row group to a Vector of the same column.
func (f *Reader) readColumn(group, column int, v *columnar.Vector) error {
	c := &f.groups[group].chunks[column]
	b := make([]byte, c.size)
	if _, err := f.r.ReadAt(b, c.offset); err != nil {
		return err
	}
	d := pageDecoder{Cursor: wire.NewCursor("parquet", b, c.offset), c: c, v: v, left: f.groups[group].rows}
	for d.Len() > 0 {
		d.page()
	}
	if d.Err() == nil && d.left > 0 {
		d.Fail("%s lacks %d rows", c.column.Name, d.left)
	}
	return d.Err()
}

// A pageDecoder decodes the pages of a chunk.
type pageDecoder struct {
	*wire.Cursor
	c          *chunk
	v          *columnar.Vector
	left       int              // rows to come
	dictionary *columnar.Vector // nil: there is none
	words      []int32          // the number among the Words of v of each of the dictionary
	buf        []byte
}

// page decodes a page.
func (d *pageDecoder) page() {
	t := &thriftReader{Cursor: d.Cursor}
	var head [4]int64
	var of [3]int64 // values, encoding
	t.ints(head[:], func(number int, typ byte) bool {
		if typ == thriftStruct {
			t.ints(of[:], nil)
		}
		return typ == thriftStruct
	})
	packed := d.Bytes(int(min(uint64(head[3]), math.MaxInt)))
	if d.Err() != nil {
		return
	}
	if head[2] < 0 || head[2] > maxPage || of[1] < 0 || of[1] > maxFileGroup {
		d.Fail("a page of %d bytes and %d values", head[2], of[1])
		return
	}
	plain := packed
	if d.c.codec == zstdCodec && len(packed) > 0 {
		var err error
		if plain, err = wire.UnzstdTo(d.buf, packed, head[2]); err != nil {
			d.Fail("%v", err)
			return
		}
		d.buf = plain
	}
	p := &pageReader{wire.NewCursor("parquet", plain, 0)}
	if head[1] == dictionaryPage {
		d.readDictionary(p, int(of[1]))
	} else {
		d.readData(p, int(of[1]), int(of[2]))
	}
	if err := p.Err(); err != nil {
		d.Fail("%s: %v", d.c.column.Name, err)
	}
}

// readDictionary reads the page of a dictionary.
func (d *pageDecoder) readDictionary(p *pageReader, n int) {
	column := *d.c.column
	d.dictionary = &columnar.Vector{Column: column}
	p.plain(d.dictionary, n)
	if d.buf = nil; d.v.Words == nil || p.Err() != nil { // the texts of a dictionary lie there
		return
	}
	known := make(map[string]int32, len(d.v.Words))
	for i, w := range d.v.Words {
		known[w] = int32(i)
	}
	for i := range d.dictionary.Ends {
		at, ok := known[string(d.dictionary.TextAt(i))]
		if !ok {
			p.Fail("an unknown word %q", d.dictionary.TextAt(i))
			return
		}
		d.words = append(d.words, at)
	}
}

// readData reads a page of values.
func (d *pageDecoder) readData(p *pageReader, n, encoding int) {
	page := &columnar.Vector{Column: *d.c.column}
	rows, values := n, n
	switch {
	case page.Type == columnar.Texts:
		rows, values = p.lists(page, n)
	case page.Nullable:
		page.Valid, values = p.levels(n)
	}
	if p.Err() != nil {
		return
	}
	switch {
	case encoding == dictionaryEncoding && d.dictionary != nil && page.Type != columnar.Texts:
		d.gather(p, page, values)
	case d.v.Words != nil && values > 0:
		p.Fail("texts without a dictionary")
	case encoding == deltaEncoding && (page.Type == columnar.Int32 || physical(page.Type) == int64Type):
		p.deltas(page, values)
	case encoding == plainEncoding:
		p.plain(page, values)
	default:
		p.Fail("a page of the encoding %d", encoding)
	}
	if d.left -= rows; d.left < 0 {
		p.Fail("more rows than the row group has")
	}
	if p.Err() == nil {
		d.v.AppendRows(page, 0, rows, 0, values)
	}
}

// gather reads the numbers of values in the dictionary.
func (d *pageDecoder) gather(p *pageReader, page *columnar.Vector, n int) {
	o := d.dictionary
	index := p.indexes(n, max(len(o.Ends), o.Len()))
	switch {
	case p.Err() != nil:
	case d.words != nil:
		page.Words = d.v.Words
		page.Int32s = pick(d.words, index)
	case o.Type == columnar.Text:
		for _, i := range index {
			page.Text = append(page.Text, o.TextAt(int(i))...)
			page.Ends = append(page.Ends, len(page.Text))
		}
	default:
		page.Int32s, page.Int64s = pick(o.Int32s, index), pick(o.Int64s, index)
		page.Floats, page.Doubles = pick(o.Floats, index), pick(o.Doubles, index)
	}
}

// pick returns the values of a list, unless there are none, by their numbers.
func pick[V any](list []V, index []int32) []V {
	if len(list) == 0 {
		return nil
	}
	out := make([]V, len(index))
	for i, n := range index {
		out[i] = list[n]
	}
	return out
}

// A pageReader reads the content of a page.
type pageReader struct{ *wire.Cursor }

// run reads n values in runs, the last of which zeros may fill.
func (p *pageReader) run(n, width int) (list []int32) {
	for len(list) < n && p.Err() == nil {
		head, left := p.Uvarint(binary.MaxVarintLen64), uint64(n-len(list))
		switch count := head >> 1; {
		case head&1 == 1 && count <= (left+7)/8:
			list = append(list, unpack[int32](p.Bytes(int(count)*width), int(min(8*count, left)), width)...)
		case head&1 == 0 && 0 < count && count <= left:
			value := int32(0)
			for i, b := range p.Bytes((width + 7) / 8) {
				value |= int32(b) << (8 * i)
			}
			list = append(list, slices.Repeat([]int32{value}, int(count))...)
		default:
			p.Fail("a run of %d values of %d", count, left)
		}
	}
	return list
}

// unpack returns n values of so many bits each.
func unpack[N int32 | int64](b []byte, n, width int) []N {
	if len(b)*8 < n*width {
		return nil
	}
	out := make([]N, n)
	rest, have, mask := uint64(0), 0, uint64(1)<<width-1
	for i := range out {
		for have < width {
			rest |= uint64(b[0]) << have
			b, have = b[1:], have+8
		}
		out[i] = N(rest & mask)
		rest >>= width
		have -= width
	}
	return out
}

// leveled reads levels of so many bits, before which stands how many bytes they take.
func (p *pageReader) leveled(n, width int) []int32 {
	in := &pageReader{wire.NewCursor("parquet", p.Bytes(int(p.U32())), 0)}
	list := in.run(n, width)
	if err := in.Err(); err != nil {
		p.Fail("levels: %v", err)
	}
	return list
}

// levels reads which rows have a value, and how many.
func (p *pageReader) levels(n int) (valid []bool, values int) {
	list := p.leveled(n, 1)
	valid = make([]bool, len(list))
	for i, level := range list {
		valid[i] = level == 1
		values += int(level)
	}
	return valid, values
}

// lists reads the levels of n items of lists, see listLevels, and how many rows and texts these
// are.
func (p *pageReader) lists(v *columnar.Vector, n int) (rows, values int) {
	first, defined := p.leveled(n, 1), p.leveled(n, 2)
	if p.Err() != nil {
		return 0, 0
	}
	for i, level := range defined {
		switch {
		case first[i] == 0:
			v.Valid = append(v.Valid, level > 0)
			v.ItemEnds = append(v.ItemEnds, len(v.ValidItems))
			rows++
		case i == 0 || level < 2:
			p.Fail("item %d of no list", i)
			return 0, 0
		}
		if level >= 2 {
			v.ValidItems = append(v.ValidItems, level == 3)
			v.ItemEnds[rows-1]++
			values += int(level - 2)
		}
	}
	return rows, values
}

// indexes reads n numbers below most.
func (p *pageReader) indexes(n, most int) []int32 {
	width := int(p.U8())
	if width < 1 || width > 31 {
		p.Fail("indexes of %d bits", width)
		return nil
	}
	list := p.run(n, width)
	for _, i := range list {
		if i < 0 || int(i) >= most {
			p.Fail("value %d of %d", i, most)
			return nil
		}
	}
	return list
}

// plain reads n values in the encoding PLAIN.
func (p *pageReader) plain(v *columnar.Vector, n int) {
	switch v.Type {
	case columnar.Bool:
		for _, x := range unpack[int32](p.Bytes((n+7)/8), n, 1) {
			v.Bools = append(v.Bools, x == 1)
		}
	case columnar.Int32:
		v.Int32s = readNumbers[int32](p, n)
	case columnar.Int64, columnar.Time:
		v.Int64s = readNumbers[int64](p, n)
	case columnar.Float:
		v.Floats = readNumbers[float32](p, n)
	case columnar.Double:
		v.Doubles = readNumbers[float64](p, n)
	default:
		for ; n > 0 && p.Err() == nil; n-- {
			text := p.Bytes(int(p.U32()))
			if v.Text = append(v.Text, text...); !utf8.Valid(text) {
				p.Fail("a text that is not UTF-8")
			}
			v.Ends = append(v.Ends, len(v.Text))
		}
	}
}

// readNumbers reads n numbers.
func readNumbers[N int32 | int64 | float32 | float64](p *pageReader, n int) []N {
	var one N
	b := p.Bytes(n * binary.Size(one))
	if p.Err() != nil {
		return nil
	}
	out := make([]N, n)
	if _, err := binary.Decode(b, binary.LittleEndian, out); err != nil {
		p.Fail("%v", err)
	}
	return out
}

// deltas reads n numbers in the encoding DELTA_BINARY_PACKED.
func (p *pageReader) deltas(v *columnar.Vector, n int) {
	block, minis, all := p.Uvarint(5), p.Uvarint(5), p.Uvarint(10)
	if block != blockNumbers || minis != blockNumbers/miniNumbers || all != uint64(n) || n == 0 || n/blockNumbers > p.Len() {
		p.Fail("differences of %d numbers", all)
		return
	}
	last := wire.Zigzag(p.Uvarint(10))
	list := append(make([]int64, 0, n), last)
	for len(list) < n && p.Err() == nil {
		least := wire.Zigzag(p.Uvarint(10))
		for _, width := range p.Bytes(blockNumbers / miniNumbers) {
			count := min(n-len(list), miniNumbers)
			if count == 0 {
				break
			}
			if width > maxWidth {
				p.Fail("differences of %d bits", width)
			}
			for _, more := range unpack[int64](p.Bytes(miniNumbers/8*int(width)), count, int(width)) {
				last += least + more
				list = append(list, last)
			}
		}
	}
	if v.Type != columnar.Int32 {
		v.Int64s = list
		return
	}
	for _, x := range list {
		v.Int32s = append(v.Int32s, int32(x))
	}
}
