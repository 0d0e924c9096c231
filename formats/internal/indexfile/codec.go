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

// Whole goes on over all that p points to: of a struct the exported fields, in their order. What is
// read is added to the zero value, which it is again if it is not whole. Pointers in a list are not
// nil.
//
//	bool, ints zigzag, uints, F32, Text | [n elements] | count, elements … | Blob | present bool, [value] |
func (c Codec) Whole(p any) {
	v := reflect.ValueOf(p)
	layoutOf(v.Type().Elem()).code(c, v.UnsafePointer())
	if c.R != nil && c.R.Err() != nil {
		v.Elem().SetZero()
	}
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

// plain are the layouts of what a Writer has a method for.
var plain = map[reflect.Kind]layout{
	reflect.String:  plainLayout((*Writer).Text, (*Reader).shared),
	reflect.Bool:    plainLayout((*Writer).Bool, (*Reader).Bool),
	reflect.Float32: plainLayout((*Writer).F32, func(r *Reader) float32 { return r.F32() }),
	reflect.Int:     signedLayout[int](),
	reflect.Int32:   signedLayout[int32](),
	reflect.Int64:   signedLayout[int64](),
	reflect.Uint8:   unsignedLayout[uint8](),
	reflect.Uint16:  unsignedLayout[uint16](),
	reflect.Uint32:  unsignedLayout[uint32](),
	reflect.Uint64:  unsignedLayout[uint64](),
}

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

func makeLayout(t reflect.Type) layout {
	switch t.Kind() {
	case reflect.Struct:
		return structLayout(t)
	case reflect.Pointer:
		return pointerLayout(t)
	case reflect.Array:
		return arrayLayout(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return plainLayout((*Writer).Blob, (*Reader).Blob)
		}
		return sliceLayout(t)
	}
	return plain[t.Kind()]
}

func structLayout(t reflect.Type) (l layout) {
	var fields []layout
	var offsets []uintptr
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			of := layoutOf(f.Type)
			fields, offsets = append(fields, of), append(offsets, f.Offset)
			l.size += of.size
		}
	}
	l.code = func(c Codec, p unsafe.Pointer) {
		for i := range fields {
			fields[i].code(c, unsafe.Add(p, offsets[i]))
		}
	}
	return l
}

func arrayLayout(t reflect.Type) layout {
	each := layoutOf(t.Elem())
	return layout{func(c Codec, p unsafe.Pointer) {
		for i := range t.Len() {
			each.code(c, unsafe.Add(p, uintptr(i)*t.Elem().Size()))
		}
	}, t.Len() * each.size}
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
	of := t.Elem()
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
			if pointers {
				values := reflect.MakeSlice(reflect.SliceOf(of), n, n)
				for i := range n {
					list.Index(i).Set(values.Index(i).Addr())
				}
			}
		}
		for i := range list.Len() {
			e := list.Index(i)
			if !pointers {
				e = e.Addr()
			}
			each.code(c, e.UnsafePointer())
		}
	}, 1}
}
