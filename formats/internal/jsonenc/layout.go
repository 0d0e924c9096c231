package jsonenc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"recfs/formats"
)

// AppendMarshal appends what encoding/json makes of v. HTML characters are not escaped, so that
// they can be searched for.
func AppendMarshal(dst []byte, v any) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), err
}

// MarshalIndented returns v as a JSON document in the layout of [AppendIndented], with a final
// newline.
func MarshalIndented(v any) ([]byte, error) {
	b, err := AppendMarshal(nil, v)
	if err != nil {
		return nil, err
	}
	return append(AppendIndented(make([]byte, 0, len(b)*5/4), b), '\n'), nil
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

// Explain returns err, with which encoding/json refused a text, as one that says why, and from
// which byte on, in a sentence of ours, and wraps it.
func Explain(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax) && syntax.Error() == endOfText, errors.Is(err, io.ErrUnexpectedEOF):
		return formats.Reasonf(err, "it ends too early")
	case errors.As(err, &syntax):
		return formats.Reasonf(err, "byte %d is not what JSON has there", syntax.Offset)
	case errors.As(err, &kind) && kind.Field != "":
		return formats.Reasonf(err, "byte %d: %q cannot be a value of type %s", kind.Offset, kind.Field, kind.Value)
	case errors.As(err, &kind):
		return formats.Reasonf(err, "byte %d: it cannot be a value of type %s", kind.Offset, kind.Value)
	}
	return err
}

// endOfText is what encoding/json says of text that ends too early, for which it has no name.
const endOfText = "unexpected end of JSON input"
