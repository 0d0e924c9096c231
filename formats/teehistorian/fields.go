package teehistorian

import (
	"slices"
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
	restField  // all remaining bytes
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

// decodeFields appends the values of fields at payload[p:] to dst. It returns the position after
// them and whether all were there. A string that lacks its 00 has the bytes that are there.
func decodeFields(dst []value, fields []field, payload []byte, p int) ([]value, int, bool) {
	u := unpacker{b: payload, p: p}
	for _, spec := range fields {
		v := value{field: spec}
		missing := u.p >= len(payload)
		switch spec.typ {
		case intField, emoticonField:
			v.num = u.int()
		case optionalField:
			if missing {
				continue
			}
			v.num = u.int()
		case uuidField:
			v.bytes = u.raw(int32(len(uuid.UUID{})))
		case restField:
			v.bytes = u.raw(int32(len(payload) - u.p))
		case textField:
			v.bytes = u.string()
			if u.err != nil && !missing {
				v.bytes = payload[u.p:]
				return append(dst, v), len(payload), false
			}
		case sixInts:
			for i := range v.nums {
				v.nums[i] = u.int()
			}
		case sixTexts:
			for i := range v.texts {
				v.texts[i] = u.string()
			}
		}
		if u.err != nil {
			return dst, u.p, false
		}
		dst = append(dst, v)
	}
	return dst, u.p, true
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

// appendFields appends the values as members of a JSON object, each after a comma.
func appendFields(dst []byte, values []value) []byte {
	for i := range values {
		v := &values[i]
		if v.typ == textField {
			dst = jsonenc.AppendText(dst, v.name, v.bytes)
			continue
		}
		dst = jsonenc.AppendKey(dst, v.name)
		switch v.typ {
		case intField, optionalField:
			dst = jsonenc.AppendInt(dst, v.num)
		case emoticonField:
			dst = jsonenc.AppendInt(dst, v.num)
			dst = append(dst, `,"emoticon_name":`...)
			if v.num >= 0 && int(v.num) < len(emoticons) {
				dst = jsonenc.AppendString(dst, emoticons[v.num])
			} else {
				dst = append(dst, "null"...)
			}
		case uuidField:
			dst = append(dst, '"')
			dst = append(dst, uuid.UUID(v.bytes).String()...)
			dst = append(dst, '"')
		case restField:
			dst = jsonenc.AppendHex(dst, v.bytes)
		case sixInts:
			dst = jsonenc.AppendList(dst, slices.Values(v.nums[:]), jsonenc.AppendInt[int32])
		case sixTexts:
			dst = jsonenc.AppendList(dst, slices.Values(v.texts[:]), jsonenc.AppendString[[]byte])
		}
	}
	return dst
}

// cleanText returns s with one U+FFFD for each byte that is not UTF-8.
func cleanText(s []byte) string {
	if utf8.Valid(s) {
		return string(s)
	}
	return string([]rune(string(s)))
}
