package nethack

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"recfs/formats"
)

// How much of a line is kept. Of a longer line only the length and the start matter.
const (
	maxSaveLine  = maxBlob/3*4 + 1<<10 // a blob of maxBlob bytes in base64, and some more
	maxOtherLine = maxEventText - 1    // of a longer one, with its newline, nothing is shown
)

// A line is the bytes before a newline.
type line struct {
	off  int64
	end  int64  // behind the newline
	text []byte // valid until the next line; at most maxSaveLine or maxOtherLine bytes
}

// long says that text is not the whole line.
func (l line) long() bool { return l.end-l.off-1 > int64(len(l.text)) }

// A scanner reads the lines of a log. Bytes behind the last newline are no line.
type scanner struct {
	r    *bufio.Reader
	off  int64
	end  int64 // of what is read
	most int   // of a save line that is kept

	ahead  int64 // how much is read at once, until it is counted
	buf    []byte
	held   *formats.Held // what is read at once, buf, and what a save line makes
	needed int64         // for the save line that took most
}

// readAhead is how much a scanner reads at once.
const readAhead = 64 << 10

// newScanner reads lines of r from off, the start of one, up to end. The caller closes it.
func newScanner(r io.ReaderAt, off, end int64) *scanner {
	s := newScannerSize(r, off, end, readAhead)
	s.ahead = int64(s.r.Size())
	return s
}

// newScannerSize reads size bytes at once.
func newScannerSize(r io.ReaderAt, off, end int64, size int64) *scanner {
	return &scanner{
		r:   bufio.NewReaderSize(io.NewSectionReader(r, off, end-off), int(min(end-off, size))),
		off: off, end: end, most: maxSaveLine,
	}
}

// close gives the memory back that the lines took.
func (s *scanner) close() { s.held.Free() }

// next returns the next line, or io.EOF.
func (s *scanner) next(ctx context.Context) (line, error) {
	l := line{off: s.off}
	if n := s.ahead; n > 0 {
		s.ahead = 0
		if err := s.charge(ctx, n); err != nil {
			return line{}, err
		}
	}
	part, err := s.r.ReadSlice('\n')
	s.off += int64(len(part))
	if err == bufio.ErrBufferFull {
		s.buf = s.buf[:0]
		for err == bufio.ErrBufferFull {
			if err := s.keep(ctx, part); err != nil {
				return line{}, err
			}
			part, err = s.r.ReadSlice('\n')
			s.off += int64(len(part))
		}
		if err := s.keep(ctx, part); err != nil {
			return line{}, err
		}
		part = s.buf
	}
	if err != nil {
		return line{}, err
	}
	l.end = s.off
	l.text = part[:min(len(part), int(min(l.end-l.off-1, int64(s.limit(part)))))]
	return l, nil
}

// limit returns how much is kept of a line that begins with text.
func (s *scanner) limit(text []byte) int {
	if isSaveLine(text) {
		return s.most
	}
	return maxOtherLine
}

// maxDoubled is how large a buffer becomes by doubling. The next one has room for the longest line,
// or all that there is, so that no two large ones are in memory at once.
const maxDoubled = 1 << 20

// keep adds a part of a line to what is kept of it.
func (s *scanner) keep(ctx context.Context, part []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text := s.buf
	if len(text) == 0 {
		text = part
	}
	most := s.limit(text) + 1
	part = part[:min(len(part), most-len(s.buf))]
	if n := len(s.buf) + len(part); n > cap(s.buf) {
		if n = max(n, 2*cap(s.buf)); n > maxDoubled {
			n = int(min(int64(most), int64(len(s.buf)+len(part))+s.end-s.off))
		}
		if err := s.charge(ctx, int64(n)); err != nil {
			return err
		}
		grown := make([]byte, len(s.buf), n)
		copy(grown, s.buf)
		s.buf = grown
	}
	s.buf = append(s.buf, part...)
	return nil
}

// charge counts n more bytes as long as the scanner is open.
func (s *scanner) charge(ctx context.Context, n int64) (err error) {
	if s.held == nil {
		s.held, err = formats.Charge(ctx, n)
		return err
	}
	return s.held.Grow(n)
}

// chargeSave counts what a save line makes: the blob without its base64, what that expands to, and
// the save before and after it.
func (s *scanner) chargeSave(ctx context.Context, l line) error {
	blob := blobOf(l.text)
	size := int64(len(blob))
	if compressionOf(blob) != plain {
		if claimed, _, err := blobSize(blob); err == nil {
			size = min(claimed, maxExpansion*size, maxBlob)
		}
	}
	need := int64(len(blob)) + savesAtOnce*size
	if need <= s.needed {
		return nil
	}
	more := need - s.needed
	s.needed = need
	return s.charge(ctx, more)
}

// savesAtOnce is how many saves, or diffs as large as one, are in memory when a line is decoded.
const savesAtOnce = 3

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

// blobOf returns the blob of a save line, which ends at a space. The location in front of a
// backup's does not matter.
func blobOf(text []byte) []byte {
	blob := text[1:]
	if text[0] == '*' {
		blob = text[min(len(text), locationSize):]
	}
	if end := bytes.IndexByte(blob, ' '); end >= 0 {
		blob = blob[:end]
	}
	return blob
}

// offsetReader reads bytes of a log that begin at off.
type offsetReader struct {
	*bytes.Reader
	off int64
}

// ReadAt implements io.ReaderAt.
func (r offsetReader) ReadAt(p []byte, off int64) (int, error) {
	if off < r.off {
		return 0, io.ErrUnexpectedEOF
	}
	return r.Reader.ReadAt(p, off-r.off)
}
