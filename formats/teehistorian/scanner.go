package teehistorian

import (
	"errors"
	"fmt"
	"io"

	"recfs/formats"
)

// maxRecord bounds one record, and so what has to be in memory at once. The longest real ones, team
// saves, have 64 KiB.
const maxRecord = 64 << 20

// errEnd says that there is no further record: the bytes end after the last one.
var errEnd = errors.New("end of the records")

// A scanner reads records one after another from a source.
type scanner struct {
	src   io.ReaderAt
	limit int64 // the records end here at the latest; formats.UnknownSize if only reading tells
	dec   decoder

	buf    []byte // window of the source
	pos    int    // of the next record in buf
	offset int64  // of buf in the source
	ended  bool   // buf reaches to the end
	window int    // bytes to read at a time
}

// newScanner returns a scanner for the records from offset on, where the decoder is dec.
func newScanner(src io.ReaderAt, offset, limit int64, dec decoder, window int) *scanner {
	return &scanner{src: src, limit: limit, dec: dec, offset: offset, window: window}
}

// next reads the next record. Its slices are valid until the following call. At the end the error
// is errEnd, inside a record errShort, and errBad for one that cannot be decoded; after each of
// them the position is the record's.
func (s *scanner) next(r *record) error {
	for {
		b := s.buf[s.pos:]
		if len(b) >= maxFixed || s.ended && len(b) > 0 {
			r.offset = s.offset + int64(s.pos)
			n, err := s.dec.decode(b, r)
			if err == nil {
				s.pos += n
				return nil
			}
			if s.ended || !errors.Is(err, errShort) {
				return err
			}
			if err := s.fits(err, len(b)); err != nil {
				return err
			}
		} else if s.ended {
			return errEnd
		}
		if err := s.fill(); err != nil {
			return err
		}
	}
}

// position returns where the next record begins.
func (s *scanner) position() int64 { return s.offset + int64(s.pos) }

// fits returns an error if a record that is cut off by the window, of n bytes, cannot become whole
// by reading more.
func (s *scanner) fits(short error, n int) error {
	var by shortBy
	if errors.As(short, &by) && s.limit >= 0 && by.need > s.limit-s.position() {
		return errShort
	}
	if n >= maxRecord {
		return fmt.Errorf("%w: longer than %d bytes", errBad, maxRecord)
	}
	return nil
}

// fill reads what follows the window, and drops what lies before the next record.
func (s *scanner) fill() error {
	rest := len(s.buf) - s.pos
	if size := rest + max(s.window, rest); size > cap(s.buf) || s.pos > 0 {
		b := s.buf
		if size > cap(b) {
			b = make([]byte, size+maxFixed) // what is left of a window is usually less, so it fits the next time
		}
		copy(b[:rest], s.buf[s.pos:])
		s.buf, s.offset, s.pos = b[:rest], s.position(), 0
	}
	free := s.buf[rest:cap(s.buf)]
	at := s.offset + int64(rest)
	if s.limit >= 0 {
		free = free[:max(0, min(int64(len(free)), s.limit-at))]
	}
	if len(free) == 0 {
		s.ended = true
		return nil
	}
	n, err := s.src.ReadAt(free, at)
	s.buf = s.buf[:rest+n]
	switch {
	case errors.Is(err, io.EOF) && s.limit < 0:
		s.ended = true
	case errors.Is(err, io.EOF) && n < len(free):
		return formats.Errorf(name, at+int64(n), io.ErrUnexpectedEOF, "the source ends before its size of %d bytes", s.limit)
	case err != nil && !errors.Is(err, io.EOF):
		return err
	}
	return nil
}
