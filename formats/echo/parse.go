package echo

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// These functions parse a value of a text as the type that it should have. ok is false if it is of
// another type, or too large.

// ParseText returns the text of a JSON string.
func ParseText(value []byte) (s string, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	if !slices.Contains(value, '\\') {
		return string(showText(value[1:len(value)-1:len(value)-1], 0)), true
	}
	err := json.Unmarshal(value, &s)
	return s, err == nil
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
