package indexfile

import (
	"math"
	"reflect"
)

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
