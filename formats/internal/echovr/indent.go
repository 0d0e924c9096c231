package echovr

import "recfs/formats/internal/jsonenc"

// AppendIndented appends a compact JSON value with every member of an object and every object of a
// list on a line of its own, and a list of plain values on one line: a frame has hundreds of
// numbers in threes.
func AppendIndented(dst, src []byte) []byte {
	depth := 0
	for i := 0; i < len(src); i++ {
		switch c := src[i]; c {
		case '{':
			dst, depth = open(dst, c, src[i+1], depth)
		case '}', ']':
			depth--
			if src[i-1] != '{' && src[i-1] != '[' {
				dst = newline(dst, depth)
			}
			dst = append(dst, c)
		case '[':
			if end := plainEnd(src, i); end < 0 {
				dst, depth = open(dst, c, src[i+1], depth)
			} else {
				dst = appendSpaced(dst, src[i:end])
				i = end - 1
			}
		case ',':
			dst = newline(append(dst, c), depth)
		case ':':
			dst = append(dst, ':', ' ')
		case '"':
			n := jsonenc.StringLen(src[i:])
			dst = append(dst, src[i:i+n]...)
			i += n - 1
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// open appends the start of an object or list, whose first byte is next.
func open(dst []byte, c, next byte, depth int) ([]byte, int) {
	dst = append(dst, c)
	if next != '}' && next != ']' {
		dst = newline(dst, depth+1)
	}
	return dst, depth + 1
}

const blanks = "\n                                "

func newline(dst []byte, depth int) []byte {
	if n := 1 + 2*depth; n <= len(blanks) {
		return append(dst, blanks[:n]...)
	}
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, ' ', ' ')
	}
	return dst
}

// plainEnd returns the end of the list at src[i:], or -1 if it holds objects or lists.
func plainEnd(src []byte, i int) int {
	for i++; ; i++ {
		switch src[i] {
		case ']':
			return i + 1
		case '{', '[':
			return -1
		case '"':
			i += jsonenc.StringLen(src[i:]) - 1
		}
	}
}

// appendSpaced appends a list of plain values with a space after each comma.
func appendSpaced(dst, list []byte) []byte {
	for i := 0; i < len(list); i++ {
		switch c := list[i]; c {
		case ',':
			dst = append(dst, ',', ' ')
		case '"':
			n := jsonenc.StringLen(list[i:])
			dst = append(dst, list[i:i+n]...)
			i += n - 1
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
