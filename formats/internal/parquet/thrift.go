package parquet

import "encoding/binary"

// magic stands at both ends of a file.
const magic = "PAR1"

// The types of Thrift's compact protocol, as field headers and lists have them.
const (
	thriftTrue   = 1
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// maxDepth is how deep structs may lie in each other: those of a footer lie six deep.
const maxDepth = 16

// A thrift writes structs in Thrift's compact protocol: each field has a header with its type and
// how far its number is from that of the field before it, numbers are zigzag varints, and a zero
// byte ends a struct. The numbers of fields and what they mean are those of parquet.thrift.
type thrift struct {
	b     []byte
	last  int            // number of the last field of the struct being written
	outer [maxDepth]int8 // of the structs around it
	depth int
}

// field writes the header of a field. Numbers ascend, by 15 at most.
func (t *thrift) field(number int, typ byte) {
	t.b = append(t.b, byte(number-t.last)<<4|typ)
	t.last = number
}

func (t *thrift) varint(n int64)     { t.b = binary.AppendVarint(t.b, n) }
func (t *thrift) uvarint(n uint64)   { t.b = binary.AppendUvarint(t.b, n) }
func (t *thrift) text(s string)      { t.uvarint(uint64(len(s))); t.b = append(t.b, s...) }
func (t *thrift) i32(f int, n int)   { t.field(f, thriftI32); t.varint(int64(n)) }
func (t *thrift) i64(f int, n int64) { t.field(f, thriftI64); t.varint(n) }
func (t *thrift) isTrue(f int)       { t.field(f, thriftTrue) }

func (t *thrift) binary(f int, s string) {
	t.field(f, thriftBinary)
	t.text(s)
}

// begin begins a struct: as field f, or as an element of a list if f is 0.
func (t *thrift) begin(f int) {
	if f > 0 {
		t.field(f, thriftStruct)
	}
	t.outer[t.depth] = int8(t.last)
	t.depth++
	t.last = 0
}

// end ends the struct that was begun last.
func (t *thrift) end() {
	t.b = append(t.b, 0)
	t.depth--
	t.last = int(t.outer[t.depth])
}

// empty writes a struct without fields as field f.
func (t *thrift) empty(f int) {
	t.begin(f)
	t.end()
}

// list begins a list of n elements of a type as field f. The elements follow.
func (t *thrift) list(f, n int, typ byte) {
	t.field(f, thriftList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|typ)
		return
	}
	t.b = append(t.b, 15<<4|typ)
	t.uvarint(uint64(n))
}
