package indexfile

import (
	"math"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"recfs/formats"
)

// A Codec writes values, or reads them to where they are taken from: one function has the layout of
// both. One of its parts is set. Where it writes, the values do not change.
type Codec struct {
	W *Writer
	R *Reader
}

// Append appends what code writes to b.
func Append(b []byte, code func(Codec)) []byte {
	w := &Writer{b}
	code(Codec{W: w})
	return w.b
}

// Read has code read b, all of it. The format is named in errors.
func Read(format string, b []byte, code func(Codec)) error {
	r := NewReader(format, b)
	code(Codec{R: r})
	return r.Close()
}

// Values goes on over values, each by its type:
//
//	*int, *int64  a number that is never negative, as Size
//	*int32        as Int, and *uint64, a difference that may be below 0
//	*uint8, *bool, *string, *float64
//	*[]byte       as Blob; what is read is a part of the index
func (c Codec) Values(list ...any) {
	for _, v := range list {
		switch v := v.(type) {
		case *int:
			Uint(c, v, math.MaxInt)
		case *int64:
			Uint(c, v, math.MaxInt64)
		case *uint64:
			value(c, v, func(w *Writer, n uint64) { w.Int(int64(n)) }, func(r *Reader) uint64 { return uint64(r.Int()) })
		case *int32:
			value(c, v, func(w *Writer, n int32) { w.Int(int64(n)) }, (*Reader).Int32)
		case *uint8:
			value(c, v, (*Writer).U8, func(r *Reader) uint8 { return r.U8() })
		case *bool:
			value(c, v, (*Writer).Bool, (*Reader).Bool)
		case *float64:
			value(c, v, (*Writer).F64, func(r *Reader) float64 { return r.F64() })
		case *string:
			value(c, v, (*Writer).Text, (*Reader).Text)
		case *[]byte:
			value(c, v, (*Writer).Blob, func(r *Reader) []byte { return slices.Clip(r.Bytes(r.Count(1))) })
		default:
			panic("indexfile: a value of a type that has no codec")
		}
	}
}

// Int goes on over a number with a sign.
func (c Codec) Int(v *int64) { value(c, v, (*Writer).Int, (*Reader).Int) }

// Blob goes on over bytes. What is read is a copy, nil for none.
func (c Codec) Blob(v *[]byte) { value(c, v, (*Writer).Blob, (*Reader).Blob) }

// Seal goes on over the seal of a file.
func (c Codec) Seal(v *formats.Seal) { value(c, v, (*Writer).Seal, (*Reader).Seal) }

// F32s goes on over numbers, how many of which there are is known.
func (c Codec) F32s(list []float32) {
	for i := range list {
		value(c, &list[i], (*Writer).F32, func(r *Reader) float32 { return r.F32() })
	}
}

// minProblem is the least bytes that a problem takes.
const minProblem = 6

// Problem goes on over a problem of index.json.
//
//	| code text | optional chunk zigzag | optional segment zigzag | path text | offset zigzag |
//	| message text |
func (c Codec) Problem(p *formats.Problem) {
	number := func(n *int) {
		value(c, n, func(w *Writer, n int) { w.Int(int64(n)) }, func(r *Reader) int { return int(r.Int()) })
	}
	c.Values(&p.Code)
	Optional(c, &p.Chunk, number)
	Optional(c, &p.Segment, number)
	c.Values(&p.Path)
	c.Int(&p.Offset)
	c.Values(&p.Message)
	if c.R != nil && c.R.Err() != nil {
		*p = formats.Problem{} // one that is not whole is none, like any other value
	}
}

// Problems goes on over problems of index.json.
func (c Codec) Problems(list *[]formats.Problem) { List(c, list, minProblem, c.Problem) }

func value[V any](c Codec, v *V, write func(*Writer, V), read func(*Reader) V) {
	if c.W != nil {
		write(c.W, *v)
	} else {
		*v = read(c.R)
	}
}

// Uint goes on over a number from 0 to limit.
func Uint[V ~int | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64](c Codec, v *V, limit V) {
	if c.W != nil {
		c.W.Uint(uint64(*v))
	} else {
		*v = V(c.R.Uint(uint64(limit)))
	}
}

// List goes on over a list, each of whose elements takes at least size bytes.
func List[V any](c Codec, list *[]V, size int, each func(*V)) {
	if c.W != nil {
		c.W.Count(len(*list))
	} else if n := c.R.Count(size); n > 0 {
		*list = make([]V, n)
	}
	for i := range *list {
		each(&(*list)[i])
	}
}

// Optional goes on over a value that may be missing: then it is nil.
func Optional[V any](c Codec, v **V, each func(*V)) {
	known := *v != nil
	c.Values(&known)
	if c.R != nil && known {
		*v = new(V)
	}
	if known {
		each(*v)
	}
}

// Whole goes on over all that p points to: of a struct the exported fields, in their order. What is
// read is added to the zero value. Pointers in a list are not nil.
//
//	bool, ints zigzag, uints, F32, Text | [n elements] | count, elements … | Blob | present bool, [value] |
func (c Codec) Whole(p any) {
	v := reflect.ValueOf(p)
	layoutOf(v.Type().Elem()).code(c, v.UnsafePointer())
}

// A layout is how the values of a type are saved. It is made once for a type, as package reflect
// takes longer than all else.
type layout struct {
	code func(c Codec, p unsafe.Pointer) // p: to the value
	size int                             // the fewest bytes that a value takes
}

var layouts sync.Map // by type

// layoutOf returns the layout of a type, which has no values of the same type in it.
func layoutOf(t reflect.Type) layout {
	known, ok := layouts.Load(t)
	if !ok {
		known = makeLayout(t)
		layouts.Store(t, known)
	}
	return known.(layout)
}

func makeLayout(t reflect.Type) layout {
	switch t.Kind() {
	case reflect.Struct:
		return structLayout(t)
	case reflect.Pointer:
		return pointerLayout(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return plainLayout((*Writer).Blob, (*Reader).Blob)
		}
		return sliceLayout(t)
	case reflect.Array:
		each, n, size := layoutOf(t.Elem()), t.Len(), t.Elem().Size()
		return layout{func(c Codec, p unsafe.Pointer) {
			for i := range n {
				each.code(c, unsafe.Add(p, i*int(size)))
			}
		}, n * each.size}
	case reflect.String:
		return plainLayout((*Writer).Text, (*Reader).shared)
	case reflect.Bool:
		return plainLayout((*Writer).Bool, (*Reader).Bool)
	case reflect.Float32:
		return plainLayout((*Writer).F32, func(r *Reader) float32 { return r.F32() })
	case reflect.Int:
		return signedLayout[int]()
	case reflect.Int32:
		return signedLayout[int32]()
	case reflect.Int64:
		return signedLayout[int64]()
	case reflect.Uint8:
		return unsignedLayout[uint8]()
	case reflect.Uint16:
		return unsignedLayout[uint16]()
	case reflect.Uint32:
		return unsignedLayout[uint32]()
	case reflect.Uint64:
		return unsignedLayout[uint64]()
	}
	panic("indexfile: no layout of " + t.String())
}

// plainLayout is that of what a Writer has a method for.
func plainLayout[V any](write func(*Writer, V), read func(*Reader) V) layout {
	return layout{func(c Codec, p unsafe.Pointer) { value(c, (*V)(p), write, read) }, 1}
}

func signedLayout[V int | int32 | int64]() layout {
	return plainLayout(func(w *Writer, n V) { w.Int(int64(n)) }, func(r *Reader) V {
		n := r.Int()
		if int64(V(n)) != n {
			r.Fail("%d where %T is possible", n, V(n))
		}
		return V(n)
	})
}

func unsignedLayout[V uint8 | uint16 | uint32 | uint64]() layout {
	return layout{func(c Codec, p unsafe.Pointer) { Uint(c, (*V)(p), ^V(0)) }, 1}
}

func structLayout(t reflect.Type) layout {
	type field struct {
		layout
		offset uintptr
	}
	var fields []field
	size := 0
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			fields = append(fields, field{layoutOf(f.Type), f.Offset})
			size += fields[len(fields)-1].size
		}
	}
	return layout{func(c Codec, p unsafe.Pointer) {
		for i := range fields {
			fields[i].code(c, unsafe.Add(p, fields[i].offset))
		}
	}, size}
}

func pointerLayout(t reflect.Type) layout {
	to := layoutOf(t.Elem())
	return layout{func(c Codec, p unsafe.Pointer) {
		at := (*unsafe.Pointer)(p)
		known := *at != nil
		if value(c, &known, (*Writer).Bool, (*Reader).Bool); c.R != nil && known {
			*at = reflect.New(t.Elem()).UnsafePointer()
		}
		if known {
			to.code(c, *at)
		}
	}, 1}
}

func sliceLayout(t reflect.Type) layout {
	of, size := t.Elem(), int(t.Elem().Size())
	pointers := of.Kind() == reflect.Pointer
	if pointers {
		of = of.Elem()
	}
	each := layoutOf(of)
	return layout{func(c Codec, p unsafe.Pointer) {
		list := reflect.NewAt(t, p).Elem()
		if c.W != nil {
			c.W.Count(list.Len())
		} else if n := c.R.Count(each.size); n > 0 {
			list.Set(reflect.MakeSlice(t, n, n))
		}
		at := list.UnsafePointer()
		for i := range list.Len() {
			e := unsafe.Add(at, i*size)
			if pointers {
				if c.R != nil {
					*(*unsafe.Pointer)(e) = reflect.New(of).UnsafePointer()
				}
				e = *(*unsafe.Pointer)(e)
			}
			each.code(c, e)
		}
	}, 1}
}
