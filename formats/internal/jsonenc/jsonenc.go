// Package jsonenc appends JSON values to a byte slice, for the records of which a recording has
// millions, and walks JSON text whose order and bytes count. What is appended for a value is what
// encoding/json writes for it with SetEscapeHTML(false); a test and a fuzz target hold the
// functions to it.
package jsonenc

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// safe says which ASCII characters stand for themselves in a string.
var safe = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return t
}()

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD,
// one for each.
func AppendString[S ~string | ~[]byte](dst []byte, s S) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if safe[c] {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = escape(dst, c)
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\ufffd`...)
			start = i + n
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hexDigits[r&0xf])
			start = i + n
		}
		i += n
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func escape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}

// AppendHex appends b as a string of lower-case hex digits.
func AppendHex(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = hex.AppendEncode(dst, b)
	return append(dst, '"')
}

// AppendInt appends an integer as it is.
func AppendInt[I ~int | ~int8 | ~int16 | ~int32 | ~int64](dst []byte, n I) []byte {
	return strconv.AppendInt(dst, int64(n), 10)
}

// AppendUint appends an unsigned integer as it is.
func AppendUint[U ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](dst []byte, n U) []byte {
	return strconv.AppendUint(dst, uint64(n), 10)
}

// maxExact is the greatest integer up to which every one is a float64.
const maxExact = 1 << 53

// AppendInt64 appends an integer, as a decimal string if it is beyond ±2^53
// (tree/README, "JSON").
func AppendInt64(dst []byte, n int64) []byte {
	if n > maxExact || n < -maxExact {
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, n, 10)
		return append(dst, '"')
	}
	return strconv.AppendInt(dst, n, 10)
}

// AppendBool appends true or false.
func AppendBool(dst []byte, b bool) []byte { return strconv.AppendBool(dst, b) }

// AppendFloat64 appends the shortest decimal that gives x again, never with an
// exponent; a number that is not finite becomes the string NaN, Infinity or
// -Infinity (tree/README, "JSON").
func AppendFloat64(dst []byte, x float64) []byte {
	if n, ok := fraction(x); ok {
		return appendFraction(dst, n)
	}
	return appendSearched(dst, x)
}

// AppendIf appends a value by add, or null if it is not known.
func AppendIf[V any](dst []byte, known bool, v V, add func([]byte, V) []byte) []byte {
	if !known {
		return append(dst, "null"...)
	}
	return add(dst, v)
}

// AppendList appends a list, each value of which add appends.
func AppendList[V any](dst []byte, list iter.Seq[V], add func([]byte, V) []byte) []byte {
	dst = append(dst, '[')
	first := len(dst)
	for v := range list {
		if len(dst) > first {
			dst = append(dst, ',')
		}
		dst = add(dst, v)
	}
	return append(dst, ']')
}

// AppendKey appends a comma, the key, which needs no escaping, and a colon: what
// comes before the value of any member of an object but the first.
func AppendKey(dst []byte, key string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	return append(dst, '"', ':')
}

// AppendText appends a member with a string, as AppendKey does, and after it the member
// key_hex with the exact bytes if they are not UTF-8.
func AppendText[S ~string | ~[]byte](dst []byte, key string, s S) []byte {
	dst = AppendString(AppendKey(dst, key), s)
	if b := []byte(s); !utf8.Valid(b) {
		dst = AppendHex(AppendKey(dst, key+"_hex"), b)
	}
	return dst
}

// Unquote returns the text of a JSON string. Bytes that are not UTF-8 stay in it. If nothing is
// escaped, it is a part of quoted.
func Unquote(quoted []byte) ([]byte, error) {
	body := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(body, '\\') < 0 {
		return slices.Clip(body), nil
	}
	var text []byte
	for len(body) > 0 { // encoding/json would replace those bytes, but unquotes all between them
		good := BadUTF8(body)
		var s string
		if err := json.Unmarshal(slices.Concat(quoted[:1], body[:good], quoted[:1]), &s); err != nil {
			return nil, err
		}
		text = append(text, s...)
		if body = body[good:]; len(body) > 0 {
			text, body = append(text, body[0]), body[1:]
		}
	}
	return text, nil
}

// BadUTF8 returns the position of the first byte that is not UTF-8, len(b) if all are.
func BadUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}
