package indexfile

import (
	"math"
	"reflect"
	"slices"

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
// read is added to the zero value.
//
//	bool, ints zigzag, uints, F32, Text | [n elements] | count, elements … | Blob | present bool, [value] |
func (c Codec) Whole(p any) { c.whole(reflect.ValueOf(p).Elem()) }

func (c Codec) whole(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.whole(v.Field(i))
			}
		}
	case reflect.Pointer:
		known := !v.IsNil()
		if c.Values(&known); c.R != nil && known {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if known {
			c.whole(v.Elem())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			through(c, v.Bytes(), (*Writer).Blob, (*Reader).Blob, v.SetBytes)
		} else {
			c.slice(v)
		}
	case reflect.Array:
		for i := range v.Len() {
			c.whole(v.Index(i))
		}
	case reflect.String:
		through(c, v.String(), (*Writer).Text, (*Reader).Text, v.SetString)
	case reflect.Bool:
		through(c, v.Bool(), (*Writer).Bool, (*Reader).Bool, v.SetBool)
	case reflect.Float32:
		through(c, float32(v.Float()), (*Writer).F32, func(r *Reader) float32 { return r.F32() }, func(x float32) { v.SetFloat(float64(x)) })
	default:
		c.number(v)
	}
}

// through writes a value, or reads one and sets it.
func through[V any](c Codec, v V, write func(*Writer, V), read func(*Reader) V, set func(V)) {
	if c.W != nil {
		write(c.W, v)
	} else {
		set(read(c.R))
	}
}

// slice goes on over a list. What is read grows by one element after the other, as many as there
// are.
func (c Codec) slice(v reflect.Value) {
	if c.W != nil {
		c.W.Count(v.Len())
		for i := range v.Len() {
			c.whole(v.Index(i))
		}
		return
	}
	for n := c.R.Count(1); n > 0 && c.R.Err() == nil; n-- {
		v.Grow(1)
		v.SetLen(v.Len() + 1)
		c.whole(v.Index(v.Len() - 1))
	}
}

// number goes on over an integer, which v has room for.
func (c Codec) number(v reflect.Value) {
	if v.CanInt() {
		through(c, v.Int(), (*Writer).Int, (*Reader).Int, func(n int64) {
			if v.OverflowInt(n) {
				c.R.Fail("%d where %s is possible", n, v.Type())
			}
			v.SetInt(n)
		})
		return
	}
	through(c, v.Uint(), (*Writer).Uint, func(r *Reader) uint64 { return r.Uint(math.MaxUint64) }, func(n uint64) {
		if v.OverflowUint(n) {
			c.R.Fail("%d where %s is possible", n, v.Type())
		}
		v.SetUint(n)
	})
}
