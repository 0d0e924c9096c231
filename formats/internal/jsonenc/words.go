package jsonenc

import (
	"encoding/json"
	"strings"
)

// AppendWords appends members of an object, each with a comma before it, as a person reads them:
// keys and texts without quotes. Nothing is looked at behind the first so many bytes.
func AppendWords(dst, members []byte, most int) []byte {
	w, start := Walk(members), len(dst)
	for w.Peek() != 0 && len(dst)-start < most {
		if len(dst) > start {
			dst = append(dst, ", "...)
		}
		dst = append(appendPlain(dst, w.Value(), most), ' ')
		dst = appendPlain(dst, w.Value(), most)
	}
	return dst
}

// appendPlain appends a text without quotes, or another value as it is. Of a long one it appends
// the start.
func appendPlain(dst, value []byte, most int) []byte {
	if len(value) > most {
		return append(dst, strings.ToValidUTF8(string(value[:most]), "")...)
	}
	var s string
	if json.Unmarshal(value, &s) == nil && value[0] == '"' {
		return append(dst, s...)
	}
	return append(dst, value...)
}
