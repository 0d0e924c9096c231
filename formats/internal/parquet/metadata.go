package parquet

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"recfs/formats/internal/wire"
)

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
	if size < int64(len(magic)+tail) {
		return nil, 0, errNotParquet
	}
	if _, err := r.ReadAt(end[:], size-tail); err != nil {
		return nil, 0, err
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != magic || n > min(size-int64(len(magic)+tail), maxFooter) {
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
