package echo

import (
	"io"
	"math"

	"recfs/formats/internal/jsonenc"
)

// AppendIndented appends a compact JSON value with each member of an object and each object of a
// list on a line of its own. A list of plain values stays on one line, as a frame has hundreds of
// vectors.
func AppendIndented(dst, src []byte) []byte {
	d := indenter{src: src}
	return d.next(dst, math.MaxInt)
}

// indentedAtOnce is about how many bytes are laid out at once of a document that is too long for
// memory.
const indentedAtOnce = 32 << 10

// maxIndented is how deep lines are indented at most. A line of 10 MiB may open thousands of lists
// with millions of objects in the innermost.
const maxIndented = 64

// An indenter lays out a compact JSON value piece by piece.
type indenter struct {
	src   []byte
	at    int
	depth int
	text  int  // bytes of a string that are still to be copied
	plain bool // in a list of plain values

	rest, buf []byte // for Read
}

func (d *indenter) done() bool { return d.at == len(d.src) }

// next appends some more of the document, until dst has about limit bytes.
func (d *indenter) next(dst []byte, limit int) []byte {
	for d.at < len(d.src) && len(dst) < limit {
		c := d.src[d.at]
		switch {
		case d.text > 0:
			n := min(d.text, limit-len(dst))
			dst = append(dst, d.src[d.at:d.at+n]...)
			d.text -= n
			d.at += n
			continue
		case !isToken[c]:
			n := 1
			for rest := d.src[d.at:]; n < len(rest) && n < limit-len(dst) && !isToken[rest[n]]; n++ {
			}
			dst = append(dst, d.src[d.at:d.at+n]...)
			d.at += n
			continue
		case c == '"':
			d.text = jsonenc.StringLen(d.src[d.at:])
			continue
		case c == ',' && d.plain:
			dst = append(dst, ',', ' ')
		case c == ']' && d.plain:
			d.plain = false
			dst = append(dst, c)
		default:
			dst = d.token(dst, c)
		}
		d.at++
	}
	return dst
}

// isToken tells which bytes of compact JSON do not belong to a number or a word.
var isToken = [256]bool{'"': true, ',': true, ':': true, '[': true, ']': true, '{': true, '}': true}

// token appends a byte that is in no string and no list of plain values.
func (d *indenter) token(dst []byte, c byte) []byte {
	switch c {
	case '{':
		return d.open(dst, c)
	case '[':
		if d.plain = isPlain(d.src[d.at:]); d.plain {
			return append(dst, c)
		}
		return d.open(dst, c)
	case '}', ']':
		d.depth--
		if before := d.src[d.at-1]; before != '{' && before != '[' {
			dst = newline(dst, d.depth)
		}
		return append(dst, c)
	case ',':
		return newline(append(dst, c), d.depth)
	case ':':
		return append(dst, ':', ' ')
	}
	return append(dst, c)
}

// open appends the start of an object or list.
func (d *indenter) open(dst []byte, c byte) []byte {
	d.depth++
	dst = append(dst, c)
	if next := d.src[d.at+1]; next != '}' && next != ']' {
		dst = newline(dst, d.depth)
	}
	return dst
}

// Read implements io.Reader. The document ends with a newline.
func (d *indenter) Read(p []byte) (int, error) {
	if len(d.rest) == 0 {
		if d.at > len(d.src) {
			return 0, io.EOF
		}
		d.buf = d.next(d.buf[:0], indentedAtOnce)
		if d.done() {
			d.at++
			d.buf = append(d.buf, '\n')
		}
		d.rest = d.buf
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

const blanks = "\n                                "

func newline(dst []byte, depth int) []byte {
	depth = min(depth, maxIndented)
	if n := 1 + 2*depth; n <= len(blanks) {
		return append(dst, blanks[:n]...)
	}
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, ' ', ' ')
	}
	return dst
}

// isPlain reports whether a list holds neither objects nor lists.
func isPlain(list []byte) bool {
	for i := 1; ; i++ {
		switch list[i] {
		case ']':
			return true
		case '{', '[':
			return false
		case '"':
			i += jsonenc.StringLen(list[i:]) - 1
		}
	}
}
