package jsonenc

// A Walker goes through valid JSON text from token to token, and gives the bytes of values as they are
// written. encoding/json keeps neither the order of members nor those bytes. Of text that is not valid,
// what is given is not specified, but it is part of the text, and the walk ends. (nodes.AppendIndented
// walks by itself: nodes imports nothing.)
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

// Peek returns the first byte of the next value, or the bracket that closes the one the Walker is in; 0
// at the end.
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

// valueLen returns the length of the value at the start of b.
func valueLen(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i += StringLen(b[i:]) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',', ' ', '\t', '\r', '\n', ':':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(b)
}

// StringLen returns the length of the string at the start of b, with its quotes.
func StringLen(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// AppendCompact appends a valid value without space between its tokens.
func AppendCompact(dst, value []byte) []byte {
	for i := 0; i < len(value); {
		switch value[i] {
		case ' ', '\t', '\r', '\n':
			i++
		case '"':
			n := StringLen(value[i:])
			dst = append(dst, value[i:i+n]...)
			i += n
		default:
			dst = append(dst, value[i])
			i++
		}
	}
	return dst
}
