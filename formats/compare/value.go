package compare

import (
	"bytes"
	"encoding/json"
	"slices"

	"recfs/formats/internal/jsonenc"
)

// A value is one of JSON. Objects keep the order of their keys, so that changes are told in the
// order of the document; of a repeated key the last value counts.
type value struct {
	text  json.RawMessage // as it stands there, without white space
	keys  []string        // of an object
	items []value         // of an object or a list
	shape byte            // '{' '[' or 0
}

// parse returns the value of a document.
func parse(doc []byte) (value, error) {
	var text json.RawMessage
	err := json.NewDecoder(bytes.NewReader(doc)).Decode(&text)
	if err != nil {
		return value{}, err
	}
	w := jsonenc.Walk(text)
	return next(&w), nil
}

// next returns the next value. That of a repeated key stands where the key was first.
func next(w *jsonenc.Walker) (v value) {
	if v.shape = w.Peek(); v.shape != '{' && v.shape != '[' {
		return value{text: encoded(w.Value())}
	}
	text := []byte{v.shape}
	for w.Enter(); w.More(); {
		if len(text) > 1 {
			text = append(text, ',')
		}
		at := len(v.items)
		if v.shape == '{' {
			key := encoded(w.Value())
			name := value{text: key}.str()
			if at = slices.Index(v.keys, name); at < 0 {
				at, v.keys = len(v.keys), append(v.keys, name)
			}
			text = append(append(text, key...), ':')
		}
		item := next(w)
		if at < len(v.items) {
			v.items[at] = item
		} else {
			v.items = append(v.items, item)
		}
		text = append(text, item.text...)
	}
	v.text = append(text, v.shape+2) // '}' and ']' stand two after their openings
	return v
}

// encoded returns a value as json.Marshal writes it, without escapes for HTML.
func encoded(text json.RawMessage) json.RawMessage {
	if s := (value{text: text}).str(); s != "" {
		return jsonenc.AppendString(nil, s)
	}
	return text
}

// member returns the value of a key of an object, or the zero value.
func (v value) member(key string) value {
	if i := slices.Index(v.keys, key); v.shape == '{' && i >= 0 {
		return v.items[i]
	}
	return value{}
}

// str returns a string, "" for all other values.
func (v value) str() (s string) {
	if len(v.text) > 0 && v.text[0] == '"' && json.Unmarshal(v.text, &s) != nil {
		return ""
	}
	return s
}

// without returns an object without some of its keys.
func (v value) without(keys ...string) value {
	w := value{shape: v.shape}
	for i, key := range v.keys {
		if !slices.Contains(keys, key) {
			w.keys, w.items = append(w.keys, key), append(w.items, v.items[i])
		}
	}
	return w
}
