package teehistorian

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"unicode/utf8"

	"recfs/formats/internal/jsonenc"
)

// An object is a JSON object whose members keep their order. encoding/json keeps neither order nor the bytes of
// strings that are not UTF-8, both of which header.json shows.
type object []member

// A member is a key with its value.
type member struct {
	key      string
	raw      []byte // the value as stored, its bad UTF-8 replaced, if neither string nor object
	isString bool
	text     []byte // of a string, unescaped, with its bad UTF-8
	nested   object // of an object
	isObject bool
}

func (o object) find(key string) *member {
	for i := range o {
		if o[i].key == key {
			return &o[i]
		}
	}
	return nil
}

func (o object) keys() map[string]bool {
	keys := make(map[string]bool, len(o))
	for i := range o {
		keys[o[i].key] = true
	}
	return keys
}

// parseObject parses a JSON object. Of a repeated key the last value counts, at the first one's place.
func parseObject(b []byte) (object, error) {
	clean := []byte(cleanText(b))
	if !json.Valid(clean) {
		var v any
		return nil, json.Unmarshal(clean, &v)
	}
	w := jsonenc.Walk(b)
	if w.Peek() != '{' {
		return nil, errors.New("it is another value")
	}
	return readObject(&w)
}

// readObject reads an object of JSON that is valid but for bytes that are not UTF-8 inside strings.
func readObject(w *jsonenc.Walker) (object, error) {
	var o object
	index := map[string]int{}
	for w.Enter(); w.More(); {
		key, err := unquote(w.Value())
		if err != nil {
			return nil, err
		}
		m, err := readMember(w)
		if err != nil {
			return nil, err
		}
		m.key = cleanText(key)
		if i, ok := index[m.key]; ok {
			o[i] = m
			continue
		}
		index[m.key] = len(o)
		o = append(o, m)
	}
	return o, nil
}

// readMember reads the value of a member.
func readMember(w *jsonenc.Walker) (m member, err error) {
	switch w.Peek() {
	case '"':
		m.isString = true
		m.text, err = unquote(w.Value())
	case '{':
		m.isObject = true
		m.nested, err = readObject(w)
	default:
		m.raw = []byte(cleanText(w.Value()))
	}
	return m, err
}

// unquote returns the bytes of a string, unescaped. They are those of quoted where nothing is escaped.
func unquote(quoted []byte) ([]byte, error) {
	body := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(body, '\\') < 0 {
		return slices.Clip(body), nil
	}
	var out []byte
	// Runs of bad UTF-8 are copied, everything between is unquoted by encoding/json.
	for len(body) > 0 {
		good := badUTF8(body)
		var s string
		if err := json.Unmarshal(append(append([]byte{'"'}, body[:good]...), '"'), &s); err != nil {
			return nil, err
		}
		out = append(out, s...)
		if body = body[good:]; len(body) > 0 {
			out, body = append(out, body[0]), body[1:]
		}
	}
	return out, nil
}

// appendObject appends o as JSON, with the exact bytes of strings that are not UTF-8 beside them.
func appendObject(dst []byte, o object) []byte {
	var keys map[string]bool // once a string asks for one more
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
		case m.isString:
			dst = jsonenc.AppendString(dst, m.text)
			if utf8.Valid(m.text) {
				continue
			}
			if keys == nil {
				keys = o.keys()
			}
			if hexKey := m.key + "_hex"; !keys[hexKey] {
				dst = append(dst, ',')
				dst = jsonenc.AppendString(dst, hexKey)
				dst = append(dst, ':')
				dst = jsonenc.AppendHex(dst, m.text)
			}
		default:
			dst = append(dst, m.raw...)
		}
	}
	return append(dst, '}')
}
