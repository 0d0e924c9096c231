package datafile

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"unicode/utf8"

	"recfs/formats/internal/jsonenc"
)

var _ json.Marshaler = object{}

// A Text is a string of a datafile. Raw holds its bytes where they are not UTF-8.
type Text struct {
	Value string
	Raw   []byte
}

// intsToText decodes a name made of ints: the bytes of each, most significant first, less 128; the
// last one is 0. Bytes that are not UTF-8 make an empty name.
func intsToText(ints []int32) Text {
	b := make([]byte, 0, 4*len(ints))
	for _, v := range ints {
		u := uint32(v)
		b = append(b, byte(u>>24)-128, byte(u>>16)-128, byte(u>>8)-128, byte(u)-128)
	}
	b = untilNUL(b[:max(0, len(b)-1)])
	if !utf8.Valid(b) {
		return Text{Raw: b}
	}
	return Text{Value: string(b)}
}

// bytesToText decodes a string of a data item up to its first NUL. Each byte that is not UTF-8
// becomes U+FFFD. It is sound if it has exactly one NUL, at its end, and is UTF-8.
func bytesToText(b []byte) (t Text, sound bool) {
	s := untilNUL(b)
	t, valid := utf8Text(s)
	return t, valid && len(s) == len(b)-1
}

func utf8Text(b []byte) (t Text, valid bool) {
	if utf8.Valid(b) {
		return Text{Value: string(b)}, true
	}
	return Text{string([]rune(string(b))), b}, false
}

func untilNUL(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

// bytes returns the text as it is stored, nothing if there is none.
func (t *Text) bytes() string {
	switch {
	case t == nil:
		return ""
	case t.Raw != nil:
		return string(t.Raw)
	}
	return t.Value
}

// soundSettings reports whether the last command of a settings data item ends in NUL.
func soundSettings(b []byte) bool { return len(b) == 0 || b[len(b)-1] == 0 }

// settingsFile returns a settings data item with a newline for every NUL, and one after a last
// command that has none.
func settingsFile(b []byte) []byte {
	out := bytes.ReplaceAll(b, []byte{0}, []byte{'\n'})
	if !soundSettings(b) {
		out = append(out, '\n')
	}
	return out
}

// An object is a JSON object with its keys in the order in which they were set.
type object []member

type member struct {
	key   string
	value any
}

func (o *object) set(key string, value any) { *o = append(*o, member{key, value}) }

// setText sets key to the text, null if there is none, and key_hex to its bytes if they are no
// UTF-8.
func (o *object) setText(key string, t *Text) {
	if t == nil {
		o.set(key, nil)
		return
	}
	o.set(key, t.Value)
	if t.Raw != nil {
		o.set(key+"_hex", hex.EncodeToString(t.Raw))
	}
}

// withRest sets the ints that no field of an item takes.
func (o object) withRest(ints []int32) object {
	if len(ints) > 0 {
		o.set("rest", ints)
	}
	return o
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() (b []byte, err error) {
	b = append(b, '{')
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonenc.AppendString(b, m.key), ':')
		if b, err = jsonenc.AppendMarshal(b, m.value); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}
