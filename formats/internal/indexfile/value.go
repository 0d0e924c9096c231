package indexfile

import (
	"math"
	"reflect"
)

// Value writes what p points to: of a struct the exported fields, in their order.
//
//	bool, ints zigzag, uints, F32, Text | [n elements] | count, elements … | Blob | present bool, [value] |
func (w *Writer) Value(p any) { w.value(reflect.ValueOf(p).Elem()) }

func (w *Writer) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				w.value(v.Field(i))
			}
		}
	case reflect.Pointer:
		if w.Bool(!v.IsNil()); !v.IsNil() {
			w.value(v.Elem())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			w.Blob(v.Bytes())
			return
		}
		w.Count(v.Len())
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			w.value(v.Index(i))
		}
	case reflect.String:
		w.Text(v.String())
	case reflect.Bool:
		w.Bool(v.Bool())
	case reflect.Float32:
		w.F32(float32(v.Float()))
	default:
		if v.CanInt() {
			w.Int(v.Int())
		} else {
			w.Uint(v.Uint())
		}
	}
}

// Value reads what Value wrote into what p points to, which is the zero value.
func (r *Reader) Value(p any) { r.value(reflect.ValueOf(p).Elem()) }

func (r *Reader) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				r.value(v.Field(i))
			}
		}
	case reflect.Pointer:
		if r.Bool() {
			v.Set(reflect.New(v.Type().Elem()))
			r.value(v.Elem())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(r.Blob())
			return
		}
		for n := r.Count(1); n > 0 && r.Err() == nil; n-- {
			element := reflect.New(v.Type().Elem()).Elem()
			r.value(element)
			v.Set(reflect.Append(v, element))
		}
	case reflect.Array:
		for i := range v.Len() {
			r.value(v.Index(i))
		}
	case reflect.String:
		v.SetString(r.Text())
	case reflect.Bool:
		v.SetBool(r.Bool())
	case reflect.Float32:
		v.SetFloat(float64(r.F32()))
	default:
		r.number(v)
	}
}

// number reads an integer that v has room for.
func (r *Reader) number(v reflect.Value) {
	if v.CanInt() {
		n := r.Int()
		if v.OverflowInt(n) {
			r.Fail("%d where %s is possible", n, v.Type())
		}
		v.SetInt(n)
		return
	}
	n := r.Uint(math.MaxUint64)
	if v.OverflowUint(n) {
		r.Fail("%d where %s is possible", n, v.Type())
	}
	v.SetUint(n)
}
