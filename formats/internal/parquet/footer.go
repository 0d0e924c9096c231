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
	dictionaryEncoding = 8 // RLE_DICTIONARY
)

const (
	dataPage       = 0
	dictionaryPage = 2
)

// encodingOf returns the encoding of a column's data pages.
func encodingOf(c *columnar.Column) int {
	if c.Words != nil {
		return dictionaryEncoding
	}
	return plainEncoding
}

// physical returns the type that a column's values are stored as.
func physical(t columnar.ColumnType) int {
	return [...]int{
		columnar.Bool: booleanType, columnar.Int32: int32Type, columnar.Int64: int64Type, columnar.Float: floatType,
		columnar.Double: doubleType, columnar.Time: int64Type, columnar.Text: byteArrayType, columnar.Texts: byteArrayType,
	}[t]
}

// makeFooter returns what follows the row groups: the metadata of the file, its length, and magic.
func (l *Layout) makeFooter(metadata []Pair) []byte {
	t := &thrift{}
	rows := int64(0)
	for i := range l.table.Groups {
		rows += int64(l.table.Groups[i].Rows)
	}
	t.begin(0) // FileMetaData
	t.i32(1, 1)
	l.schema(t)
	t.i64(3, rows)
	t.list(4, len(l.table.Groups), thriftStruct)
	for i := range l.table.Groups {
		l.group(t, i)
	}
	t.list(5, len(metadata), thriftStruct)
	for _, m := range metadata {
		t.begin(0)
		t.binary(1, m.Key)
		t.binary(2, m.Value)
		t.end()
	}
	t.binary(6, "recfs")
	t.list(7, len(l.table.Columns), thriftStruct) // without them readers pass over min_value and max_value
	for range l.table.Columns {
		t.begin(0)
		t.empty(1)
		t.end()
	}
	t.end()
	t.b = binary.LittleEndian.AppendUint32(t.b, uint32(len(t.b)))
	return append(t.b, magic...)
}

// schema writes the tree of columns, flat and in order.
func (l *Layout) schema(t *thrift) {
	elements := 1 + len(l.table.Columns)
	for _, c := range l.table.Columns {
		if c.Type == columnar.Texts {
			elements += 2
		}
	}
	t.list(2, elements, thriftStruct)
	group(t, "schema", -1, len(l.table.Columns), -1)
	for i := range l.table.Columns {
		c := &l.table.Columns[i]
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

// group writes a RowGroup.
func (l *Layout) group(t *thrift, i int) {
	g := &l.table.Groups[i]
	t.begin(0)
	t.list(1, len(l.table.Columns), thriftStruct)
	off := l.groups[i]
	for c := range l.table.Columns {
		p := planOf(&l.table.Columns[c], g, c)
		chunk(t, &l.table.Columns[c], &g.Columns[c], &p, off)
		off += p.total()
	}
	t.i64(2, l.groupSize(i))
	t.i64(3, int64(g.Rows))
	t.end()
}

// chunk writes the ColumnChunk of a column whose chunk begins at off.
func chunk(t *thrift, c *columnar.Column, n *columnar.Counts, p *plan, off int64) {
	t.begin(0)
	t.i64(2, 0)
	t.begin(3) // ColumnMetaData
	typ := c.Type
	t.i32(1, physical(typ))
	encodings(t, c)
	path := []string{c.Name}
	if typ == columnar.Texts {
		path = append(path, "list", "element")
	}
	t.list(3, len(path), thriftBinary)
	for _, name := range path {
		t.text(name)
	}
	t.i32(4, 0) // UNCOMPRESSED
	t.i64(5, int64(p.values))
	t.i64(6, p.total())
	t.i64(7, p.total())
	t.i64(9, off+p.start())
	if c.Words != nil {
		t.i64(11, off)
	}
	if typ != columnar.Texts {
		statistics(t, typ, n)
	}
	t.end()
	t.end()
}

// encodings writes all that are used in a column.
func encodings(t *thrift, c *columnar.Column) {
	list := []int{plainEncoding}
	if c.Words != nil {
		list = append(list, dictionaryEncoding)
	}
	if c.Nullable {
		list = append(list, rleEncoding)
	}
	t.list(2, len(list), thriftI32)
	for _, e := range list {
		t.varint(int64(e))
	}
}

// statistics writes how many nulls there are, and the least and the greatest number if they are known.
func statistics(t *thrift, typ columnar.ColumnType, n *columnar.Counts) {
	t.begin(12)
	t.i64(3, n.Nulls)
	if n.Bounded {
		t.binary(5, plain(typ, n.Max, math.Copysign(0, 1)))
		t.binary(6, plain(typ, n.Min, math.Copysign(0, -1)))
	}
	t.end()
}

// plain returns a bound as a value is stored. zero is what stands for both zeros of a Float or Double:
// the lesser as the least value, the greater as the greatest, as readers may take them for different.
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
