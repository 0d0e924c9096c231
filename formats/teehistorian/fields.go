package teehistorian

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"recfs/formats/internal/jsonenc"
)

// A fieldType says how a field of a payload is stored and shown.
type fieldType uint8

const (
	intField      fieldType = iota
	optionalField           // int that may be missing
	emoticonField           // int, shown with its name
	uuidField
	textField
	restField  // all bytes left
	sixInts    // as a list
	sixTexts   // as a list
	listLength = 6
)

// A field of a payload, under the name it has in the tree.
type field struct {
	name string
	typ  fieldType
}

// A value is one field as decoded. Its bytes are a part of the payload.
type value struct {
	field
	num   int32
	bytes []byte // text without its 00, uuid or rest
	nums  [listLength]int32
	texts [listLength][]byte
}

// decodeFields appends the values of fields at payload[p:] to dst. It returns the position behind them and whether
// all were there. Of a text without its 00 the bytes that are there count as its value.
func decodeFields(dst []value, fields []field, payload []byte, p int) ([]value, int, bool) {
	f := fieldReader{payload: payload, p: p}
	for _, spec := range fields {
		v := value{field: spec}
		missing := f.p >= len(payload)
		switch spec.typ {
		case intField, emoticonField:
			v.num = f.int()
		case optionalField:
			if missing {
				continue
			}
			v.num = f.int()
		case uuidField:
			v.bytes = f.bytes(len(uuid.UUID{}))
		case restField:
			v.bytes = f.bytes(len(payload) - f.p)
		case textField:
			v.bytes = f.text()
			if f.short && !missing {
				return append(dst, v), f.p, false
			}
		case sixInts:
			for i := range v.nums {
				v.nums[i] = f.int()
			}
		case sixTexts:
			for i := range v.texts {
				v.texts[i] = f.text()
			}
		}
		if f.short {
			return dst, f.p, false
		}
		dst = append(dst, v)
	}
	return dst, f.p, true
}

// A fieldReader takes a payload apart. Behind the first field that is short all are.
type fieldReader struct {
	payload []byte
	p       int
	short   bool
}

func (f *fieldReader) int() int32 {
	v, p, ok := intAt(f.payload, f.p)
	if !ok || f.short {
		f.short = true
		return 0
	}
	f.p = p
	return v
}

func (f *fieldReader) bytes(n int) []byte {
	if f.short || n > len(f.payload)-f.p {
		f.short = true
		return nil
	}
	f.p += n
	return f.payload[f.p-n : f.p]
}

// text returns the bytes up to a 00, or all that are left if there is none.
func (f *fieldReader) text() []byte {
	if f.short {
		return nil
	}
	rest := f.payload[f.p:]
	n := bytes.IndexByte(rest, 0)
	if n < 0 {
		f.short = true
		f.p = len(f.payload)
		return rest
	}
	f.p += n + 1
	return rest[:n]
}

// find returns the value of that name, or a zero value.
func find(values []value, name string) value {
	for _, v := range values {
		if v.name == name {
			return v
		}
	}
	return value{}
}

// appendFields appends the values as members of a JSON object, each with a comma before it.
func appendFields(dst []byte, values []value) []byte {
	for i := range values {
		v := &values[i]
		if v.typ == textField {
			dst = appendText(dst, v.name, v.bytes)
			continue
		}
		dst = appendKey(dst, v.name)
		switch v.typ {
		case intField, optionalField:
			dst = jsonenc.Int(dst, v.num)
		case emoticonField:
			dst = jsonenc.Int(dst, v.num)
			dst = append(dst, `,"emoticon_name":`...)
			if v.num >= 0 && int(v.num) < len(emoticons) {
				dst = jsonenc.String(dst, emoticons[v.num])
			} else {
				dst = append(dst, "null"...)
			}
		case uuidField:
			dst = append(dst, '"')
			dst = append(dst, uuid.UUID(v.bytes).String()...)
			dst = append(dst, '"')
		case restField:
			dst = jsonenc.Hex(dst, v.bytes)
		case sixInts:
			dst = appendList(dst, v.nums[:], jsonenc.Int[int32])
		case sixTexts:
			dst = appendList(dst, v.texts[:], jsonenc.String[[]byte])
		}
	}
	return dst
}

// appendKey appends a comma, the name and a colon.
func appendKey(dst []byte, name string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
}

// appendText appends the member name, and name_hex with the exact bytes if they are not UTF-8.
func appendText(dst []byte, name string, s []byte) []byte {
	dst = appendKey(dst, name)
	dst = jsonenc.String(dst, s)
	if !utf8.Valid(s) {
		dst = appendKey(dst, name+"_hex")
		dst = jsonenc.Hex(dst, s)
	}
	return dst
}

func appendList[V any](dst []byte, list []V, element func([]byte, V) []byte) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = element(dst, v)
	}
	return append(dst, ']')
}

// cleanText returns s with one U+FFFD for each byte that is not UTF-8.
func cleanText(s []byte) string {
	if utf8.Valid(s) {
		return string(s)
	}
	var b strings.Builder
	for _, r := range string(s) {
		b.WriteRune(r)
	}
	return b.String()
}
