package parquet

import (
	"encoding/binary"
	"math"

	"recfs/formats/columnar"
)

// What parquet.thrift numbers.
const (
	booleanType = iota
	int32Type
	int64Type
	_
	floatType
	doubleType
	byteArrayType
)

const (
	required = iota
	optional
	repeated
)

const (
	utf8Converted      = 0
	listConverted      = 3
	timestampConverted = 10
)

const (
	plainEncoding      = 0
	rleEncoding        = 3
	deltaEncoding      = 5 // DELTA_BINARY_PACKED
	dictionaryEncoding = 8 // RLE_DICTIONARY
)

const (
	uncompressed = 0
	zstdCodec    = 6
)

const (
	dataPage       = 0
	dictionaryPage = 2
)

// physical returns the type that a column's values are stored as.
func physical(t columnar.ColumnType) int {
	return [...]int{
		columnar.Bool: booleanType, columnar.Int32: int32Type, columnar.Int64: int64Type, columnar.Float: floatType,
		columnar.Double: doubleType, columnar.Time: int64Type, columnar.Text: byteArrayType, columnar.Texts: byteArrayType,
	}[t]
}

// A chunk is what the footer says of the values of a column in a row group.
type chunk struct {
	column      *columnar.Column
	values      int   // nulls among them
	offset      int64 // in the file
	data        int64 // from offset to the first data page; 0: there is no dictionary before it
	encoding    int   // of values, where there is no dictionary
	plain, size int64 // bytes with all page headers, before compression and as they lie there
	codec       int
	nulls       int64
	bounded     bool
	least, most string // as a value is stored, if bounded
}

// makeFooter returns what follows the row groups of a table: the metadata of the file, its length,
// and magic. chunks appends those of a row group to list.
func makeFooter(table *columnar.Table, chunks func(list []chunk, group int) []chunk, metadata []Pair) []byte {
	t := &thrift{}
	rows := int64(0)
	for i := range table.Groups {
		rows += int64(table.Groups[i].Rows)
	}
	t.begin(0) // FileMetaData
	t.i32(1, 1)
	schema(t, table.Columns)
	t.i64(3, rows)
	t.list(4, len(table.Groups), thriftStruct)
	var list []chunk
	for i := range table.Groups {
		list = chunks(list[:0], i)
		rowGroup(t, list, table.Groups[i].Rows)
	}
	t.list(5, len(metadata), thriftStruct)
	for _, m := range metadata {
		t.begin(0)
		t.binary(1, m.Key)
		t.binary(2, m.Value)
		t.end()
	}
	t.binary(6, "recfs")
	t.list(7, len(table.Columns), thriftStruct) // without them readers pass over min_value and max_value
	for range table.Columns {
		t.begin(0)
		t.empty(1)
		t.end()
	}
	t.end()
	t.b = binary.LittleEndian.AppendUint32(t.b, uint32(len(t.b)))
	return append(t.b, Magic...)
}

// schema writes the tree of columns, flat and in order.
func schema(t *thrift, columns []columnar.Column) {
	elements := 1 + len(columns)
	for _, c := range columns {
		if c.Type == columnar.Texts {
			elements += 2
		}
	}
	t.list(2, elements, thriftStruct)
	group(t, "schema", -1, len(columns), -1)
	for i := range columns {
		c := &columns[i]
		if c.Type == columnar.Texts {
			group(t, c.Name, optional, 1, listConverted)
			group(t, "list", repeated, 1, -1)
			leaf(t, "element", columnar.Text, true)
			continue
		}
		leaf(t, c.Name, c.Type, c.Nullable)
	}
}

// group writes a SchemaElement with children. What is -1 it does not have.
func group(t *thrift, name string, repetition, children, converted int) {
	t.begin(0)
	if repetition >= 0 {
		t.i32(3, repetition)
	}
	t.binary(4, name)
	t.i32(5, children)
	if converted >= 0 {
		t.i32(6, converted)
		t.begin(10) // LogicalType
		t.empty(3)  // LIST
		t.end()
	}
	t.end()
}

// leaf writes the SchemaElement of a column.
func leaf(t *thrift, name string, typ columnar.ColumnType, nullable bool) {
	t.begin(0)
	t.i32(1, physical(typ))
	if nullable {
		t.i32(3, optional)
	} else {
		t.i32(3, required)
	}
	t.binary(4, name)
	switch typ {
	case columnar.Text:
		t.i32(6, utf8Converted)
		t.begin(10) // LogicalType
		t.empty(1)  // STRING
		t.end()
	case columnar.Time:
		t.i32(6, timestampConverted)
		t.begin(10) // LogicalType
		t.begin(8)  // TIMESTAMP
		t.isTrue(1) // isAdjustedToUTC
		t.begin(2)  // unit
		t.empty(2)  // MICROS
		t.end()
		t.end()
		t.end()
	}
	t.end()
}

// rowGroup writes a RowGroup.
func rowGroup(t *thrift, list []chunk, rows int) {
	t.begin(0)
	t.list(1, len(list), thriftStruct)
	size := int64(0)
	for i := range list {
		list[i].write(t)
		size += list[i].plain
	}
	t.i64(2, size)
	t.i64(3, int64(rows))
	t.end()
}

// write writes a ColumnChunk.
func (c *chunk) write(t *thrift) {
	t.begin(0)
	t.i64(2, 0)
	t.begin(3) // ColumnMetaData
	typ := c.column.Type
	t.i32(1, physical(typ))
	c.encodings(t)
	path := []string{c.column.Name}
	if typ == columnar.Texts {
		path = append(path, "list", "element")
	}
	t.list(3, len(path), thriftBinary)
	for _, name := range path {
		t.text(name)
	}
	t.i32(4, c.codec)
	t.i64(5, int64(c.values))
	t.i64(6, c.plain)
	t.i64(7, c.size)
	t.i64(9, c.offset+c.data)
	if c.data > 0 {
		t.i64(11, c.offset)
	}
	if typ != columnar.Texts {
		c.statistics(t)
	}
	t.end()
	t.end()
}

// encodings writes all that are used in a chunk.
func (c *chunk) encodings(t *thrift) {
	list := []int{c.encoding}
	if c.data > 0 {
		list = append(list, dictionaryEncoding)
	}
	if c.column.Nullable {
		list = append(list, rleEncoding)
	}
	t.list(2, len(list), thriftI32)
	for _, e := range list {
		t.varint(int64(e))
	}
}

// statistics writes how many nulls there are, and the least and the greatest value if they are
// known.
func (c *chunk) statistics(t *thrift) {
	t.begin(12)
	t.i64(3, c.nulls)
	if c.bounded {
		t.binary(5, c.most)
		t.binary(6, c.least)
		if c.isExact() {
			t.isTrue(7)
			t.isTrue(8)
		}
	}
	t.end()
}

// isExact reports whether the bounds are values of the chunk, by which engines may answer max and
// min. Those of a Float or Double pass over NaN, and have both zeros.
func (c *chunk) isExact() bool {
	return c.column.Type != columnar.Float && c.column.Type != columnar.Double
}

// counted sets what is known of the numbers of a chunk.
func (c *chunk) counted(n *columnar.Counts) {
	c.nulls = n.Nulls
	if c.bounded = n.Bounded; n.Bounded {
		c.least = plain(c.column.Type, n.Min, math.Copysign(0, -1))
		c.most = plain(c.column.Type, n.Max, math.Copysign(0, 1))
	}
}

// plain returns a bound as a value is stored. zero is what stands for both zeros of a Float or
// Double: the lesser as the least value, the greater as the greatest, as readers may take them for
// different.
func plain(typ columnar.ColumnType, v int64, zero float64) string {
	var b []byte
	switch f := math.Float64frombits(uint64(v)); typ {
	case columnar.Int32:
		b = binary.LittleEndian.AppendUint32(b, uint32(int32(v)))
	case columnar.Int64, columnar.Time:
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	case columnar.Float:
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(orZero(f, zero))))
	default:
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(orZero(f, zero)))
	}
	return string(b)
}

func orZero(f, zero float64) float64 {
	if f == 0 {
		return zero
	}
	return f
}
