package jsonenc

import (
	"encoding/binary"
	"iter"
	"math/bits"
)

// A Walker goes through valid JSON text from token to token, and gives the bytes of values as they
// are written. encoding/json keeps neither the order of members nor those bytes. Of text that is
// not valid, what is given is not specified, but it is part of the text, and the walk ends.
//
//	for w.Enter(); w.More(); {
//		key, value := w.Value(), w.Value()
//	}
type Walker struct {
	b   []byte
	pos int
}

// Walk returns a Walker at the start of b.
func Walk(b []byte) Walker { return Walker{b: b} }

// Peek returns the first byte of the next value, or the bracket that closes the one the Walker is
// in; 0 at the end.
func (w *Walker) Peek() byte {
	for w.pos < len(w.b) {
		switch c := w.b[w.pos]; c {
		case ' ', '\t', '\r', '\n', ',', ':': // valid text has them where they belong
			w.pos++
		default:
			return c
		}
	}
	return 0
}

// Enter goes into the object or list that is next.
func (w *Walker) Enter() {
	if w.Peek() != 0 {
		w.pos++
	}
}

// More reports whether another key or element follows in the object or list. If not, the Walker has
// left it.
func (w *Walker) More() bool {
	switch w.Peek() {
	case 0:
		return false
	case '}', ']':
		w.pos++
		return false
	}
	return true
}

// Value returns the next value, or the next key with its quotes, and goes on after it.
func (w *Walker) Value() []byte {
	w.Peek()
	n := valueLen(w.b[w.pos:])
	v := w.b[w.pos : w.pos+n : w.pos+n]
	w.pos += n
	return v
}

// Leave goes on behind the object or list that the Walker is in.
func (w *Walker) Leave() { w.pos += closed(w.b[w.pos:], 0, 1) }

// Members goes through the members of the next value: it gives each key with its quotes, for whose
// value the caller goes on. There are none if it is no object.
func (w *Walker) Members() iter.Seq[[]byte] {
	return func(yield func(key []byte) bool) {
		if w.Peek() != '{' {
			w.Value()
			return
		}
		for w.Enter(); w.More(); {
			key := w.Value()
			if len(key) < len(`""`) || !yield(key) { // too short for a key: it is no JSON
				return
			}
		}
	}
}

// Elements goes through the first n elements of the next value, each of which the caller takes.
// There are none if it is no list.
func (w *Walker) Elements(n int) iter.Seq[int] {
	return func(yield func(i int) bool) {
		if w.Peek() != '[' {
			w.Value()
			return
		}
		w.Enter()
		for i := 0; w.More(); i++ {
			if i == n {
				w.Leave()
				return
			}
			if !yield(i) {
				return
			}
		}
	}
}

// valueLen returns the length of the value at the start of b.
func valueLen(b []byte) int {
	if len(b) > 0 && (b[0] == '{' || b[0] == '[') {
		return closed(b, 1, 1)
	}
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + StringLen(b[i:])
		case '{', '[': // not valid
			return closed(b, i+1, 1)
		case '}', ']', ',', ' ', '\t', '\r', '\n', ':':
			return i
		}
	}
	return len(b)
}

// closed returns where what is open at b[i], so deep, is closed again, len(b) if it is not.
func closed(b []byte, i, depth int) int {
	for {
		i += untilToken(b[i:])
		if i >= len(b) {
			return len(b)
		}
		switch b[i] {
		case '"':
			i += StringLen(b[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
}

// Eight bytes are looked at as one number. zeros has a bit for the lowest byte that is zero, and
// none below.
const (
	eachByte = 0x0101010101010101
	highBits = 0x80 * eachByte
)

func zeros(x uint64) uint64 { return (x - eachByte) &^ x & highBits }

// untilToken returns how many bytes at the start of b are neither quotes nor brackets. It may stop
// at some others.
func untilToken(b []byte) int {
	for i := 0; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		// With the bits of 0x26 the four brackets are 0x7f, and so are six bytes that are rare outside of
		// strings.
		found := zeros((x|0x26*eachByte)^0x7f*eachByte) | zeros(x^'"'*eachByte)
		if found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	i := len(b) &^ 7
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c|0x26 == 0x7f {
			return i
		}
	}
	return len(b)
}

// StringLen returns the length of the string at the start of b, with its quotes.
func StringLen(b []byte) int {
	for i := 1; i < len(b); i++ {
		i += untilEnd(b[i:])
		if i >= len(b) {
			break
		}
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// untilEnd returns how many bytes at the start of b are neither quotes nor backslashes.
func untilEnd(b []byte) int {
	for i := 0; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		if found := zeros(x^'"'*eachByte) | zeros(x^'\\'*eachByte); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	i := len(b) &^ 7
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// AppendCompact appends a valid value without space between its tokens.
func AppendCompact(dst, value []byte) []byte {
	start := 0 // of what is still to be appended
	for i := 0; i < len(value); {
		switch value[i] {
		case ' ', '\t', '\r', '\n':
			dst = append(dst, value[start:i]...)
			i++
			start = i
		case '"':
			i += StringLen(value[i:])
		default:
			i++
		}
	}
	return append(dst, value[start:]...)
}
