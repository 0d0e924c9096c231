package jsonenc

import (
	"bytes"
	"encoding/json"
)

// MarshalIndented returns v as a JSON document in the layout of [AppendIndented], with a final
// newline. HTML characters are not escaped.
func MarshalIndented(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return append(AppendIndented(make([]byte, 0, buf.Len()*5/4), buf.Bytes()), '\n'), nil
}

// AppendIndented appends the JSON value src in the layout of all documents of the tree: objects are
// indented by two spaces; of a list of objects or of lists every element stands on a line of its
// own, compact; a list of plain values stands on one line. There is no newline after the value.
func AppendIndented(dst, src []byte) []byte {
	w := Walk(src)
	return w.appendIndented(dst, 0)
}

func (w *Walker) appendIndented(dst []byte, depth int) []byte {
	switch w.Peek() {
	case '{':
		return w.appendObject(dst, depth)
	case '[':
		return w.appendList(dst, depth)
	}
	return append(dst, w.Value()...)
}

func (w *Walker) appendObject(dst []byte, depth int) []byte {
	dst = append(dst, '{')
	first := true
	for w.Enter(); w.More(); first = false {
		if !first {
			dst = append(dst, ',')
		}
		dst = append(newline(dst, depth+1), w.Value()...)
		dst = w.appendIndented(append(dst, ": "...), depth+1)
	}
	if !first {
		dst = newline(dst, depth)
	}
	return append(dst, '}')
}

func (w *Walker) appendList(dst []byte, depth int) []byte {
	w.Enter()
	c := w.Peek()
	nested := c == '{' || c == '['
	dst = append(dst, '[')
	for first := true; w.More(); first = false {
		switch {
		case nested && !first:
			dst = append(dst, ',')
		case !first:
			dst = append(dst, ", "...)
		}
		if nested {
			dst = AppendCompact(newline(dst, depth+1), w.Value())
		} else {
			dst = w.appendIndented(dst, depth)
		}
	}
	if nested {
		dst = newline(dst, depth)
	}
	return append(dst, ']')
}

func newline(dst []byte, depth int) []byte {
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, "  "...)
	}
	return dst
}
