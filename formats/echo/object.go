package echo

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"recfs/formats/internal/jsonenc"
)

// A lineParser reads lines. It uses its memory again for the next line.
type lineParser struct {
	jsonenc.Walker             // of the document that is read
	players        [3][]Player // of each team
	lean           bool        // only tables are made of the frame, before the next one is read
	sound          bool        // the documents are known to be JSON
}

// An object describes a kind of object in the game's API, which is made of a T. Its table of
// members serves to write objects, to read them, and to put their members in order.
type object[T any] struct {
	shape
	members []member[T] // in the order in which they are shown
}

// A member is one member of an object.
type member[T any] struct {
	key   string
	head  string // `,"key":`
	shape *shape // of objects in its values; nil: they have none
	when  Has    // what a frame must have for the member to be written
	rich  bool   // no table needs it, so that a lean lineParser skips it

	// put appends the value, or nothing if the member is not there; nil: it is never written.
	put func(b []byte, v *T, w frameContext) []byte
	// take reads the next value; nil: nothing is made of it.
	take func(r *lineParser, v *T, l *Lacks)
}

// A frameContext is what members need to know of the place that they are written in.
type frameContext struct {
	has  Has // of the frame
	team int // number of the team

	lacks Lacks // values that are null
	event bool  // a text that is not UTF-8 is followed by its bytes
}

// newObject returns the object that has these members.
func newObject[T any](members ...member[T]) *object[T] {
	o := &object[T]{members: members}
	for i := range members {
		m := &members[i]
		m.head = `,"` + m.key + `":`
		o.keys, o.inner = append(o.keys, m.key), append(o.inner, m.shape)
	}
	return o
}

// append appends the object, one of whose members is always there.
func (o *object[T]) append(b []byte, v *T, w frameContext) []byte {
	start := len(b)
	b = o.appendMembers(b, v, w)
	b[start] = '{' // in place of the first comma
	return append(b, '}')
}

// appendMembers appends the members that are there, each behind a comma.
func (o *object[T]) appendMembers(b []byte, v *T, w frameContext) []byte {
	for i := range o.members {
		m := &o.members[i]
		if m.put == nil || m.when&^w.has != 0 {
			continue
		}
		start, n := len(b), len(b)+len(m.head)
		if b = m.put(append(b, m.head...), v, w); len(b) == n {
			b = b[:start]
		}
	}
	return b
}

// pick appends some of the members, each behind a comma.
func (o *object[T]) pick(b []byte, v *T, w frameContext, keys ...string) []byte {
	for _, key := range keys {
		m := &o.members[o.place([]byte(key), 0)]
		b = m.put(append(b, m.head...), v, w)
	}
	return b
}

// read reads the next value. It is fast if the members come in the order of the table. Of two
// members with the same key the last one counts.
func (o *object[T]) read(r *lineParser, v *T, l *Lacks) {
	next := 0
	for key := range r.Members() {
		i := o.place(key[1:len(key)-1], next)
		if i < 0 && bytes.IndexByte(key, '\\') >= 0 {
			text, _ := ParseText(key)
			i = o.place([]byte(text), next)
		}
		if i < 0 {
			r.Value()
			continue
		}
		next = i + 1
		if m := &o.members[i]; m.take == nil || m.rich && r.lean {
			r.Value()
		} else {
			m.take(r, v, l)
		}
	}
}

// value is a member whose value is at a place in the T. bit is its bit in the Lacks of the T.
func value[T, V any](key string, bit int, at func(*T) *V, parse func([]byte) (V, bool), put func([]byte, V) []byte) member[T] {
	return member[T]{
		key: key,
		put: func(b []byte, v *T, w frameContext) []byte {
			if w.lacks.At(bit) {
				return append(b, null...)
			}
			return put(b, *at(v))
		},
		take: func(r *lineParser, v *T, l *Lacks) { take(at(v), l, bit, r.Value(), parse) },
	}
}

// take parses v into a value, or notes that the value is lacking.
func take[T any](to *T, l *Lacks, bit int, v []byte, parse func([]byte) (T, bool)) {
	x, ok := parse(v)
	*to = x
	l.Set(bit, !ok)
}

func number[T any](key string, bit int, at func(*T) *float32) member[T] {
	return value(key, bit, at, ParseFloat, appendFloat)
}

func integer[T any](key string, bit int, at func(*T) *int64) member[T] {
	return value(key, bit, at, ParseInt, jsonenc.AppendInt[int64])
}

func small[T any](key string, bit int, at func(*T) *int32) member[T] {
	return value(key, bit, at, ParseInt32, jsonenc.AppendInt[int32])
}

func text[T any](key string, bit int, at func(*T) *string) member[T] {
	m := value(key, bit, at, ParseText, jsonenc.AppendString[string])
	put := m.put
	m.put = func(b []byte, v *T, w frameContext) []byte {
		b = put(b, v, w)
		if s := *at(v); w.event && !utf8.ValidString(s) {
			b = jsonenc.AppendHex(jsonenc.AppendKey(b, key+"_hex"), []byte(s))
		}
		return b
	}
	return m
}

// within is a member whose value is an object made of the same T.
func within[T any](key string, o *object[T]) member[T] {
	return member[T]{
		key: key, shape: &o.shape,
		put:  o.append,
		take: o.read,
	}
}

// untabled is within for an object that no table needs.
func untabled[T any](key string, o *object[T]) member[T] {
	m := within(key, o)
	m.rich = true
	return m
}

// written is a member that is written, but not read.
func written[T any](key string, put func(b []byte, v *T, w frameContext) []byte) member[T] {
	return member[T]{key: key, put: put}
}

// only returns the member, which is written only for frames that have these parts.
func (m member[T]) only(parts Has) member[T] {
	m.when = parts
	return m
}

// These functions parse a value of a text as the type that it should have. ok is false if it is of
// another type, or too large.

// ParseText returns the text of a JSON string. Bytes that are not UTF-8 stay in it.
func ParseText(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	text, err := jsonenc.Unquote(value)
	return string(text), err == nil
}

// ParseFloat returns a number, also one of those that are words in JSON, such as "NaN".
func ParseFloat(value []byte) (x float32, ok bool) {
	switch string(value) {
	case `"NaN"`, `"Infinity"`, `"-Infinity"`:
		value = value[1 : len(value)-1]
	}
	y, err := strconv.ParseFloat(string(value), 32)
	if err != nil {
		return 0, false
	}
	return float32(y), true
}

// ParseInt returns a number without a fraction.
func ParseInt(value []byte) (n int64, ok bool) {
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return n, true
	}
	x, err := strconv.ParseFloat(string(value), 64)
	if err != nil || x != math.Trunc(x) || x < -1<<63 || x >= 1<<63 {
		return 0, false
	}
	return int64(x), true
}

// ParseInt32 is ParseInt for a small one.
func ParseInt32(value []byte) (int32, bool) {
	n, ok := ParseInt(value)
	if !ok || int64(int32(n)) != n {
		return 0, false
	}
	return int32(n), true
}

// ParseBool returns a boolean.
func ParseBool(value []byte) (v, ok bool) {
	v = string(value) == "true"
	return v, v || string(value) == "false"
}

// showText puts one U+FFFD in place of each byte of b from start on that is not UTF-8.
func showText(b []byte, start int) []byte {
	if utf8.Valid(b[start:]) {
		return b
	}
	more := 0
	for rest := b[start:]; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if rest = rest[n:]; r == utf8.RuneError && n == 1 {
			more += len("\ufffd") - 1
		}
	}
	n := len(b)
	b = slices.Grow(b, more)[:n+more]
	copy(b[start+more:], b[start:n])
	for rest := b[start+more:]; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		rest = rest[n:]
		start += utf8.EncodeRune(b[start:], r)
	}
	return b
}
