package nethack

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"

	"recfs/formats"
	"recfs/formats/internal/wire"
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

// maxBlob bounds a decoded blob and a save. The largest games have saves of a few megabytes.
const maxBlob = 16 << 20

// maxExpansion is how many bytes one byte of an LZ4 block can stand for.
const maxExpansion = 255

// A compression is how the bytes of a blob are stored before base64.
type compression uint8

const (
	plain compression = iota
	zlibStream
	lz4Block
)

var compressionNames = [...]string{"none", "zlib", "lz4"}

func (c compression) String() string { return compressionNames[c] }

// compressionOf tells the compression of a blob by its first byte, whether it decodes or not.
func compressionOf(blob []byte) compression {
	if len(blob) > 0 {
		switch blob[0] {
		case '$':
			return zlibStream
		case '#':
			return lz4Block
		}
	}
	return plain
}

var (
	errBase64 = errors.New("the blob is not base64")
	errPrefix = errors.New("the blob has no length between its two marks")
)

// decodeBlob returns the bytes of a blob (docs/formats/nethack.md section 1.4), in whose place
// those of its base64 are written: a plain one is there.
func decodeBlob(blob []byte) (data []byte, err error) {
	kind := compressionOf(blob)
	size := int64(0)
	if kind != plain {
		if size, blob, err = blobSize(blob); err != nil {
			return nil, err
		}
	}
	raw, err := decodeBase64(blob)
	switch {
	case err != nil:
		return nil, err
	case kind == zlibStream:
		data, _, err = wire.Zlib(raw, size)
		return data, err
	case kind == lz4Block:
		return decodeLZ4(raw, size)
	}
	return raw, nil
}

// blobSize reads the $n$ or #n# in front of a compressed blob.
func blobSize(blob []byte) (size int64, rest []byte, err error) {
	i := 1
	for ; i < len(blob) && i <= 10 && '0' <= blob[i] && blob[i] <= '9'; i++ {
		size = 10*size + int64(blob[i]-'0')
	}
	if i == 1 || i == len(blob) || blob[i] != blob[0] {
		return 0, nil, errPrefix
	}
	if size > maxBlob {
		return 0, nil, fmt.Errorf("the blob claims %d bytes, more than %d", size, maxBlob)
	}
	return size, blob[i+1:], nil
}

// base64Step is how many characters are decoded at once, whole groups of four.
const base64Step = 4 << 10

// decodeBase64 decodes a text in its place.
func decodeBase64(text []byte) ([]byte, error) {
	var part [base64Step / 4 * 3]byte
	n := 0
	for rest := text; len(rest) > 0; {
		src := rest[:min(len(rest), base64Step)]
		rest = rest[len(src):]
		m, err := base64.StdEncoding.Decode(part[:], src)
		if err != nil || bytes.IndexByte(src, '\r') >= 0 || len(rest) > 0 && m < len(part) { // a decoder skips \r
			return nil, errBase64
		}
		n += copy(text[n:], part[:m])
	}
	return text[:n], nil
}

// decodeLZ4 expands one LZ4 block to exactly size bytes.
func decodeLZ4(src []byte, size int64) ([]byte, error) {
	if size > maxExpansion*int64(len(src)) {
		return nil, fmt.Errorf("%d bytes of LZ4 cannot be %d", len(src), size)
	}
	dst := make([]byte, size)
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return nil, fmt.Errorf("the LZ4 block is damaged or longer than %d bytes", size)
	}
	if int64(n) != size {
		return nil, fmt.Errorf("the LZ4 block has %d bytes instead of %d", n, size)
	}
	return dst, nil
}
