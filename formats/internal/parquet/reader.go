package parquet

import (
	"io"
	"slices"

	"recfs/formats/columnar"
	"recfs/formats/internal/wire"
)

// A Reader reads a file that a Writer wrote. Of others it need not read everything.
type Reader struct {
	Columns  []columnar.Column
	Metadata map[string]string
	r        io.ReaderAt
	groups   []readGroup
	end      int64 // of what may be row groups: the footer begins there
}

// A readGroup is a row group in a file.
type readGroup struct {
	rows       int
	start, end int64
	chunks     []chunk
}

// Limits of what a footer may claim.
const (
	maxColumns   = 1 << 10
	maxFileGroup = columnar.MaxGroupRows
)

// NewReader reads the footer of a file of so many bytes. Its row groups lie one after the other, as
// a Writer has them.
func NewReader(r io.ReaderAt, size int64) (*Reader, error) {
	footer, at, err := readFooter(r, size)
	if err != nil {
		return nil, err
	}
	f := &Reader{Metadata: map[string]string{}, r: r, end: at}
	t := &thriftReader{Cursor: wire.NewCursor("parquet", footer, at)}
	t.fields(func(number int, typ byte) {
		switch {
		case number == 2 && typ == thriftList:
			f.readSchema(t)
		case number == 4 && typ == thriftList:
			t.elements(func(byte) { f.readGroup(t) })
		case number == 5 && typ == thriftList:
			t.pairs(f.Metadata)
		default:
			t.skip(typ)
		}
	})
	return f, t.Err()
}

// Groups returns how many row groups there are.
func (f *Reader) Groups() int { return len(f.groups) }

// Rows returns how many rows a row group has.
func (f *Reader) Rows(group int) int { return f.groups[group].rows }

// Plain returns how many bytes a row group has before compression.
func (f *Reader) Plain(group int) (n int64) {
	for i := range f.groups[group].chunks {
		n += f.groups[group].chunks[i].plain
	}
	return n
}

// RowsEnd returns where the last row group ends, and FooterStart where the footer begins. Between
// them lies what the caller wrote.
func (f *Reader) RowsEnd() int64 {
	if n := len(f.groups); n > 0 {
		return f.groups[n-1].end
	}
	return int64(len(Magic))
}

// FooterStart returns where the footer begins.
func (f *Reader) FooterStart() int64 { return f.end }

func (t *thriftReader) int() int64 { return wire.Zigzag(t.uvarint()) }

// ints reads a struct whose fields are numbers, but for those that other reads.
func (t *thriftReader) ints(list []int64, other func(number int, typ byte) bool) {
	t.fields(func(number int, typ byte) {
		switch {
		case other != nil && other(number, typ):
		case (typ == thriftI32 || typ == thriftI64) && 0 <= number && number < len(list):
			list[number] = t.int()
		default:
			t.skip(typ)
		}
	})
}

// A schemaElement is one of the list that is the schema: what parquet.thrift has by that number.
type schemaElement struct {
	n    [7]int64
	name string
}

// readSchema reads the columns. A list of texts takes three elements.
func (f *Reader) readSchema(t *thriftReader) {
	var list []schemaElement
	t.elements(func(byte) {
		e := schemaElement{n: [7]int64{1: -1, 6: -1}}
		t.ints(e.n[:], func(number int, typ byte) bool {
			if number == 4 && typ == thriftBinary {
				e.name = string(t.binary())
				return true
			}
			return false
		})
		if list = append(list, e); len(list) > 3*maxColumns || e.name == "" {
			t.Fail("a schema of %d elements", len(list))
		}
	})
	for i := 1; i < len(list) && t.Err() == nil; i++ {
		e := &list[i]
		c := columnar.Column{Name: e.name, Nullable: e.n[3] == optional}
		if e.n[6] == listConverted {
			c.Type = columnar.Texts
			i += 2
		} else if c.Type = typeOf(e.n[1], e.n[6]); physical(c.Type) != int(e.n[1]) {
			t.Fail("a column of type %d", e.n[1])
		}
		f.Columns = append(f.Columns, c)
	}
}

// typeOf returns the type of a column by what a schema says of it. If it is another, so is its
// physical type.
func typeOf(physical, converted int64) columnar.ColumnType {
	switch {
	case physical == int32Type:
		return columnar.Int32
	case physical == int64Type && converted == timestampConverted:
		return columnar.Time
	case physical == int64Type:
		return columnar.Int64
	case physical == floatType:
		return columnar.Float
	case physical == doubleType:
		return columnar.Double
	case physical == byteArrayType:
		return columnar.Text
	}
	return columnar.Bool
}

// readGroup reads a RowGroup, which lies behind the one before.
func (f *Reader) readGroup(t *thriftReader) {
	g := readGroup{start: f.RowsEnd()}
	g.end = g.start
	var n [4]int64
	t.ints(n[:], func(number int, typ byte) bool {
		if number != 1 || typ != thriftList {
			return false
		}
		t.elements(func(byte) {
			if len(g.chunks) == len(f.Columns) {
				t.Fail("more columns than the schema has")
				return
			}
			c := readChunk(t, &f.Columns[len(g.chunks)])
			if c.offset != g.end || c.size <= 0 || c.size > f.end-g.end || c.data < 0 || c.data >= c.size || c.values < 0 {
				t.Fail("a column from %d, of %d bytes and %d values", c.offset, c.size, c.values)
			}
			g.end += c.size
			g.chunks = append(g.chunks, c)
		})
		return true
	})
	if g.rows = int(n[3]); n[3] <= 0 || n[3] > maxFileGroup || len(g.chunks) != len(f.Columns) {
		t.Fail("a row group of %d rows and %d columns", n[3], len(g.chunks))
	}
	f.groups = append(f.groups, g)
}

// readChunk reads a ColumnChunk.
func readChunk(t *thriftReader, column *columnar.Column) (c chunk) {
	c = chunk{column: column}
	var n [12]int64
	t.fields(func(number int, typ byte) {
		if number != 3 || typ != thriftStruct {
			t.skip(typ)
			return
		}
		t.ints(n[:], func(number int, typ byte) bool {
			switch {
			case number == 2 && typ == thriftList:
				first := true
				t.elements(func(byte) {
					if e := t.int(); first {
						c.encoding, first = int(e), false
					}
				})
			case number == 12 && typ == thriftStruct:
				c.readStatistics(t)
			default:
				return false
			}
			return true
		})
	})
	c.codec, c.values, c.plain, c.size = int(n[4]), int(n[5]), n[6], n[7]
	if c.offset = n[9]; n[11] > 0 {
		c.offset, c.data = n[11], n[9]-n[11]
	}
	return c
}

// readStatistics reads what is known of the values of a chunk.
func (c *chunk) readStatistics(t *thriftReader) {
	var n [4]int64
	t.ints(n[:], func(number int, typ byte) bool {
		if typ != thriftBinary || number != 5 && number != 6 {
			return false
		}
		c.bounded = true
		if text := string(t.binary()); number == 5 {
			c.most = text
		} else {
			c.least = text
		}
		return true
	})
	c.nulls = n[3]
}

// Same reports whether a file has these columns.
func (f *Reader) Same(columns []columnar.Column) bool {
	return slices.EqualFunc(f.Columns, columns, func(a, b columnar.Column) bool {
		return a.Name == b.Name && a.Type == b.Type && a.Nullable == b.Nullable
	})
}
