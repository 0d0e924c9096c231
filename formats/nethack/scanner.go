package nethack

import (
	"bufio"
	"errors"
	"io"
)

// maxLine bounds what of a line is kept: a blob of maxBlob bytes in base64, and some more. Of a
// longer line only its length and its start count.
const maxLine = maxBlob/3*4 + 1<<10

// A line is the bytes before a newline.
type line struct {
	off  int64
	end  int64  // behind the newline
	text []byte // valid until the next line; at most maxLine bytes
}

// long says that text is not the whole line.
func (l line) long() bool { return l.end-l.off-1 > int64(len(l.text)) }

// A scanner reads the lines of a log. Bytes behind the last newline are no line.
type scanner struct {
	r   *bufio.Reader
	off int64
	buf []byte
}

// readAhead is how much a scanner reads at once.
const readAhead = 256 << 10

// newScanner reads lines of r from off, the start of one, up to end.
func newScanner(r io.ReaderAt, off, end int64) *scanner {
	return newScannerSize(r, off, end, readAhead)
}

// newScannerSize reads size bytes at once.
func newScannerSize(r io.ReaderAt, off, end int64, size int64) *scanner {
	return &scanner{r: bufio.NewReaderSize(io.NewSectionReader(r, off, end-off), int(min(end-off, size))), off: off}
}

// next returns the next line, or io.EOF.
func (s *scanner) next() (line, error) {
	l := line{off: s.off}
	part, err := s.r.ReadSlice('\n')
	s.off += int64(len(part))
	if err == bufio.ErrBufferFull {
		s.buf = s.buf[:0]
		for err == bufio.ErrBufferFull {
			s.keep(part)
			part, err = s.r.ReadSlice('\n')
			s.off += int64(len(part))
		}
		s.keep(part)
		part = s.buf
	}
	if err != nil {
		return line{}, err
	}
	l.end = s.off
	l.text = part[:min(len(part), int(min(l.end-l.off-1, maxLine)))]
	return l, nil
}

func (s *scanner) keep(part []byte) {
	s.buf = append(s.buf, part[:min(len(part), maxLine+1-len(s.buf))]...)
}

// parseStep reads a time step (docs/formats/nethack.md section 2.3): 1 to 16 hex digits that are
// added to the clock.
func parseStep(text []byte) (uint64, bool) {
	if len(text) < 2 || text[0] != '+' {
		return 0, false
	}
	v, err := parseHex(text[1:], 16)
	return v, err == nil
}

var errHex = errors.New("not a hexadecimal number")

// parseHex reads 1 to digits lower-case hex digits.
func parseHex(s []byte, digits int) (uint64, error) {
	if len(s) == 0 || len(s) > digits {
		return 0, errHex
	}
	var v uint64
	for _, c := range s {
		switch {
		case '0' <= c && c <= '9':
			v = v<<4 | uint64(c-'0')
		case 'a' <= c && c <= 'f':
			v = v<<4 | uint64(c-'a'+10)
		default:
			return 0, errHex
		}
	}
	return v, nil
}

// isSaveLine tells whether a line is a tick.
func isSaveLine(text []byte) bool { return len(text) > 0 && (text[0] == '*' || text[0] == '~') }
