package jsonenc

import (
	"bytes"
	"encoding/json"
	"strings"
)

// AppendWords appends members of an object, each with a comma before it, as a person reads them:
// keys and texts without quotes, objects in parentheses, lists in brackets. It ends behind so many
// bytes.
func AppendWords(dst, members []byte, most int) []byte {
	w := Walk(members)
	return w.appendWords(dst, len(dst)+most, true)
}

// appendWords appends the members, or the elements without keys, that follow.
func (w *Walker) appendWords(dst []byte, end int, keys bool) []byte {
	for first := true; len(dst) < end && w.More(); first = false {
		if !first {
			dst = append(dst, ", "...)
		}
		if keys {
			dst = append(appendPlain(dst, w.Value(), end), ' ')
		}
		dst = appendPlain(dst, w.Value(), end)
	}
	return dst
}

// appendPlain appends a value. Of a long one it appends the start.
func appendPlain(dst, value []byte, end int) []byte {
	if most := max(end-len(dst), 0); len(value) > 2*most {
		return append(dst, strings.ToValidUTF8(string(value[:most]), "")...)
	}
	var s string
	switch {
	case bytes.HasPrefix(value, []byte{'{'}):
		w := Walk(value)
		w.Enter()
		return append(w.appendWords(append(dst, '('), end, true), ')')
	case bytes.HasPrefix(value, []byte{'['}):
		w := Walk(value)
		w.Enter()
		return append(w.appendWords(append(dst, '['), end, false), ']')
	case bytes.HasPrefix(value, []byte{'"'}) && json.Unmarshal(value, &s) == nil:
		return append(dst, s...)
	}
	return append(dst, value...)
}
