package parquettest

import "encoding/binary"

// A thrift reads structs in Thrift's compact protocol: each a map from field numbers to values.
type thrift struct{ b []byte }

func (t *thrift) uvarint() uint64 {
	v, n := binary.Uvarint(t.b)
	t.b = t.b[n:]
	return v
}

func (t *thrift) varint() int64 {
	v, n := binary.Varint(t.b)
	t.b = t.b[n:]
	return v
}

func (t *thrift) byte() byte {
	c := t.b[0]
	t.b = t.b[1:]
	return c
}

func (t *thrift) text() string {
	n := t.uvarint()
	s := string(t.b[:n])
	t.b = t.b[n:]
	return s
}

// value reads a value of a type.
func (t *thrift) value(typ byte) any {
	switch typ {
	case 1, 2:
		return typ == 1
	case 5, 6:
		return t.varint()
	case 8:
		return t.text()
	case 9:
		return t.list()
	}
	return t.object()
}

func (t *thrift) list() []any {
	c := t.byte()
	n := uint64(c >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	list := []any{}
	for range n {
		list = append(list, t.value(c&15))
	}
	return list
}

// An object is a struct by its field numbers.
type object map[int64]any

func (t *thrift) object() object {
	o, last := object{}, int64(0)
	for {
		c := t.byte()
		if c == 0 {
			return o
		}
		if last += int64(c >> 4); c>>4 == 0 {
			last = t.varint()
		}
		o[last] = t.value(c & 15)
	}
}

func (o object) int(f int64) int64     { n, _ := o[f].(int64); return n }
func (o object) text(f int64) string   { s, _ := o[f].(string); return s }
func (o object) object(f int64) object { v, _ := o[f].(object); return v }
func (o object) list(f int64) []any    { v, _ := o[f].([]any); return v }
