package compare

import (
	"bytes"
	"encoding/json"
	"slices"
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
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	return parseNext(d)
}

func parseNext(d *json.Decoder) (v value, err error) {
	token, err := d.Token()
	if err != nil {
		return v, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		v.text, err = encode(token)
		return v, err
	}
	v.shape = byte(delim)
	text := []byte{v.shape}
	for d.More() {
		if len(text) > 1 {
			text = append(text, ',')
		}
		at := len(v.items)
		if v.shape == '{' {
			if at, text, err = v.parseKey(d, text); err != nil {
				return v, err
			}
		}
		item, err := parseNext(d)
		if err != nil {
			return v, err
		}
		if at < len(v.items) {
			v.items[at] = item
		} else {
			v.items = append(v.items, item)
		}
		text = append(text, item.text...)
	}
	_, err = d.Token()
	v.text = append(text, v.shape+2) // '}' and ']' stand two after their openings
	return v, err
}

// parseKey reads a key of an object and appends it to the text. It returns where its value goes:
// that of a repeated key where it was first.
func (v *value) parseKey(d *json.Decoder, text []byte) (at int, longer []byte, err error) {
	key, err := d.Token()
	if err != nil {
		return 0, text, err
	}
	name, _ := key.(string)
	if at = slices.Index(v.keys, name); at < 0 {
		at, v.keys = len(v.keys), append(v.keys, name)
	}
	quoted, err := encode(name)
	return at, append(append(text, quoted...), ':'), err
}

// encode is json.Marshal without escapes for HTML.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
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
