package teehistorian

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"unicode/utf8"

	"recfs/formats/internal/jsonenc"
)

// checkObject returns an error if b is not a JSON object. Bytes that are not UTF-8 are allowed.
func checkObject(b []byte) error {
	if !utf8.Valid(b) {
		b = []byte(cleanText(b))
	}
	if !json.Valid(b) {
		var v any
		return json.Unmarshal(b, &v)
	}
	if w := jsonenc.Walk(b); w.Peek() != '{' {
		return errors.New("it is another value")
	}
	return nil
}

// An object is a JSON object whose members keep their order. encoding/json keeps neither order nor
// the bytes of strings that are not UTF-8, both of which header.json shows.
type object []member

// A member is a key with its value.
type member struct {
	key      string
	value    []byte // as stored, if it is no object
	nested   object
	isObject bool
}

// readObject reads the object that comes next. If a key is repeated, the last value counts, in the
// place of the first.
func readObject(w *jsonenc.Walker) (o object) {
	places := map[string]int{}
	for quoted := range w.Members() {
		m := member{key: cleanText(unquote(quoted))}
		if m.isObject = w.Peek() == '{'; m.isObject {
			m.nested = readObject(w)
		} else {
			m.value = w.Value()
		}
		if i, ok := places[m.key]; ok {
			o[i] = m
			continue
		}
		places[m.key] = len(o)
		o = append(o, m)
	}
	return o
}

// unquote returns the bytes of a string, unescaped. If nothing is escaped, they are a part of
// quoted.
func unquote(quoted []byte) []byte {
	body := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(body, '\\') < 0 {
		return slices.Clip(body)
	}
	var out []byte
	// Runs of bad UTF-8 are copied. encoding/json unquotes everything between them.
	for len(body) > 0 {
		good := badUTF8(body)
		var s string
		json.Unmarshal(append(append([]byte{'"'}, body[:good]...), '"'), &s) //nolint:errcheck // checkObject has seen it
		out = append(out, s...)
		if body = body[good:]; len(body) > 0 {
			out, body = append(out, body[0]), body[1:]
		}
	}
	return out
}

// appendJSON appends the header as header.json shows it.
func (h *header) appendJSON(dst []byte) []byte {
	w := jsonenc.Walk(h.json)
	return appendObject(dst, readObject(&w))
}

// appendObject appends o as JSON. Strings that are not UTF-8 have their exact bytes beside them.
func appendObject(dst []byte, o object) []byte {
	var keys map[string]bool // nil until a string needs one more
	dst = append(dst, '{')
	for i, m := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonenc.AppendString(dst, m.key)
		dst = append(dst, ':')
		switch {
		case m.isObject:
			dst = appendObject(dst, m.nested)
		case isString(m.value):
			text := unquote(m.value)
			dst = jsonenc.AppendString(dst, text)
			if utf8.Valid(text) {
				continue
			}
			if keys == nil {
				keys = make(map[string]bool, len(o))
				for i := range o {
					keys[o[i].key] = true
				}
			}
			if hexKey := m.key + "_hex"; !keys[hexKey] {
				dst = jsonenc.AppendString(append(dst, ','), hexKey)
				dst = jsonenc.AppendHex(append(dst, ':'), text)
			}
		default:
			dst = append(dst, cleanText(m.value)...)
		}
	}
	return append(dst, '}')
}
