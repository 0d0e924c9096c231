package parquet

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"recfs/formats/internal/wire"
)

// Magic stands at both ends of a file.
const Magic = "PAR1"

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

// A Pair is an element of the key-value metadata of a file.
type Pair struct{ Key, Value string }

// Metadata returns the metadata of a table of a recording whose file is called source.
func Metadata(format, table, source string) []Pair {
	return []Pair{{"recfs.table", table}, {"recfs.format", format}, {"recfs.source", string([]rune(source))}} // U+FFFD, as in header.json
}

// maxFooter bounds a footer: that of a table of 200 million rows has a megabyte.
const maxFooter = 64 << 20

// errNotParquet says that a file does not end as one of Parquet does.
var errNotParquet = errors.New("it is not Parquet")

// readFooter returns the footer of a file of so many bytes, and where it begins.
func readFooter(r io.ReaderAt, size int64) (footer []byte, at int64, err error) {
	const tail = 8 // length of the footer u32, magic
	var end [tail]byte
	if size < int64(len(Magic)+tail) {
		return nil, 0, errNotParquet
	}
	if _, err := r.ReadAt(end[:], size-tail); err != nil {
		return nil, 0, err
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != Magic || n > min(size-int64(len(Magic)+tail), maxFooter) {
		return nil, 0, errNotParquet
	}
	footer = make([]byte, n)
	_, err = r.ReadAt(footer, size-tail-n)
	return footer, size - tail - n, err
}

// pairs reads the key-value metadata.
func (t *thriftReader) pairs(pairs map[string]string) {
	t.elements(func(byte) {
		var pair [3]string
		t.fields(func(number int, typ byte) {
			if typ == thriftBinary && 0 <= number && number < len(pair) {
				pair[number] = string(t.binary())
				return
			}
			t.skip(typ)
		})
		pairs[pair[1]] = pair[2]
	})
}

// A thriftReader reads what a thrift writes. It stops at the first error.
type thriftReader struct {
	*wire.Cursor
	depth int // of structs and lists around what is read
}

func (t *thriftReader) uvarint() uint64 { return t.Uvarint(binary.MaxVarintLen64) }

func (t *thriftReader) binary() []byte { return t.Bytes(int(min(t.uvarint(), math.MaxInt))) }

// enter counts what begins, and reports whether that is not too deep.
func (t *thriftReader) enter() bool {
	if t.depth++; t.depth > maxDepth {
		t.Fail("more than %d structs lie in each other", maxDepth)
	}
	return t.Err() == nil
}

// fields calls value for each field of a struct, to read its value.
func (t *thriftReader) fields(value func(number int, typ byte)) {
	defer func() { t.depth-- }()
	if !t.enter() {
		return
	}
	for number := 0; ; {
		head := t.U8()
		if head == 0 {
			return
		}
		if number += int(head >> 4); head>>4 == 0 {
			n := t.uvarint()
			number = int(int16(wire.Zigzag(n)))
		}
		value(number, head&15)
	}
}

// elements calls value for each element of a list, to read it.
func (t *thriftReader) elements(value func(typ byte)) {
	defer func() { t.depth-- }()
	if !t.enter() {
		return
	}
	head := t.U8()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	for ; n > 0 && t.Err() == nil; n-- {
		value(head & 15)
	}
}

// skip passes over a value.
func (t *thriftReader) skip(typ byte) {
	switch typ {
	case thriftTrue, thriftTrue + 1: // the type is the value
	case thriftI32, thriftI64:
		t.uvarint()
	case thriftBinary:
		t.binary()
	case thriftList:
		t.elements(func(typ byte) {
			if typ <= thriftTrue+1 {
				t.U8()
				return
			}
			t.skip(typ)
		})
	case thriftStruct:
		t.fields(func(_ int, typ byte) { t.skip(typ) })
	default: // none that a footer of recfs has
		t.Fail("a value of type %d", typ)
	}
}
