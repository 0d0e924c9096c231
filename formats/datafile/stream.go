package datafile

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/klauspost/compress/zlib"

	"recfs/formats"
)

// recentSize is how much of an itemStream stays at hand: readers ask a little out of order.
const recentSize = 256 << 10

// An itemStream is the content of a data item that is too large to be held in memory: it is inflated
// as far as is read, and again from the start for a read before what is at hand.
type itemStream struct {
	r    *Reader
	i    int
	turn chan struct{} // holds one while somebody reads

	src    *boundReader
	zr     io.ReadCloser
	at     int64 // where recent ends
	recent []byte
}

// stream returns the content of data item i.
func (r *Reader) stream(i int) (*itemStream, error) {
	if err := r.checkStored(i); err != nil {
		return nil, err
	}
	return &itemStream{r: r, i: i, turn: make(chan struct{}, 1)}, nil
}

// Size returns the number of bytes.
func (s *itemStream) Size() int64 { return s.r.Data[s.i].Size }

// Held is about how much memory an open stream takes.
func (s *itemStream) Held() int64 { return 2 * recentSize }

// ReadAt implements nodes.ReaderAt. The last byte is given only if the whole stream is sound.
func (s *itemStream) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	size := s.Size()
	if off < 0 || off >= size {
		return 0, io.EOF
	}
	short := int64(len(p)) > size-off
	p = p[:min(int64(len(p)), size-off)]
	n, err := s.read(ctx, p, off)
	if err != nil {
		s.zr = nil
		return n, err
	}
	if short {
		return n, io.EOF
	}
	return n, nil
}

func (s *itemStream) read(ctx context.Context, p []byte, off int64) (n int, err error) {
	if s.zr == nil || off < s.at-int64(len(s.recent)) {
		if err := s.restart(ctx); err != nil {
			return 0, err
		}
	}
	s.src.ctx = ctx
	for n < len(p) {
		if from := off + int64(n); from < s.at {
			n += copy(p[n:], s.recent[int64(len(s.recent))-(s.at-from):])
			continue
		}
		if err := s.next(ctx); err != nil {
			return n, err
		}
	}
	return n, nil
}

// restart goes back to the start.
func (s *itemStream) restart(ctx context.Context) (err error) {
	d := s.r.Data[s.i]
	s.src = &boundReader{ctx: ctx, src: s.r.src, off: d.Offset, end: d.Offset + d.Stored}
	s.at, s.recent = 0, s.recent[:0]
	s.zr, err = zlib.NewReader(bufio.NewReaderSize(s.src, 32<<10))
	return s.failure(err)
}

// next inflates some more.
func (s *itemStream) next(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.recent == nil {
		s.recent = make([]byte, 0, recentSize)
	}
	if len(s.recent) == cap(s.recent) { // half of it stays
		s.recent = s.recent[:copy(s.recent, s.recent[cap(s.recent)/2:])]
	}
	d := s.r.Data[s.i]
	free := s.recent[len(s.recent):min(int64(cap(s.recent)), int64(len(s.recent))+d.Size-s.at)]
	n, err := io.ReadFull(s.zr, free)
	s.recent = s.recent[:len(s.recent)+n]
	s.at += int64(n)
	if err == nil && s.at == d.Size {
		var more [1]byte
		switch k, end := io.ReadFull(s.zr, more[:]); {
		case k > 0:
			err = fault("data_size_mismatch", d.Offset, "data %d announces %d bytes and holds at least %d", s.i, d.Size, d.Size+1)
		case end != io.EOF:
			err = end
		}
		if err != nil {
			s.recent, s.at = s.recent[:len(s.recent)-1], s.at-1
		}
	}
	return s.failure(err)
}

// failure tells damage from a failed read.
func (s *itemStream) failure(err error) error {
	switch {
	case err == nil || isFault(err):
		return err
	case s.src.err != nil:
		return s.src.err
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) && s.src.off < s.src.end:
		return fault("data_size_mismatch", s.r.Data[s.i].Offset, "data %d announces %d bytes and holds %d", s.i, s.Size(), s.at)
	}
	return zlibFault(s.i, s.r.Data[s.i], err)
}

// A boundReader reads a part of a source in order, each time for the operation whose context it has.
type boundReader struct {
	ctx      context.Context
	src      formats.ReaderAt
	off, end int64
	err      error // of a read
}

func (b *boundReader) Read(p []byte) (int, error) {
	if b.off >= b.end {
		return 0, io.EOF
	}
	n, err := b.src.ReadAt(b.ctx, p[:min(int64(len(p)), b.end-b.off)], b.off)
	b.off += int64(n)
	if err == io.EOF && n > 0 {
		err = nil
	}
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// A runStream is the tiles that run lengths stand for, expanded as far as is read.
type runStream struct {
	data formats.ReaderAt
	size int64 // of data
	turn chan struct{}

	buf     []byte // of data, which ends at in
	in      int64
	tile    int64 // number of the tile that the first of buf is
	skipped int   // repeats of that tile before tile
}

const runBuffer = 64 << 10

// ReadAt implements nodes.ReaderAt for whole tiles of 4 bytes, as many as the run lengths are known to
// make.
func (s *runStream) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	want := off / 4
	if want < s.tile {
		s.buf, s.in, s.tile, s.skipped = s.buf[:0], 0, 0, 0
	}
	for n := 0; n < len(p); {
		if len(s.buf) < 4 {
			if err := s.fill(ctx); err != nil {
				return n, err
			}
		}
		run := int64(s.buf[2]) + 1 - int64(s.skipped)
		if s.tile+run <= want {
			s.tile += run
			s.buf, s.skipped = s.buf[4:], 0
			continue
		}
		s.skipped += int(want - s.tile)
		s.tile = want
		n += copy(p[n:], []byte{s.buf[0], s.buf[1], 0, s.buf[3]})
		want++
	}
	return len(p), nil
}

// fill reads on when all of buf is used.
func (s *runStream) fill(ctx context.Context) error {
	s.buf = make([]byte, min(runBuffer, s.size-s.in))
	if len(s.buf) < 4 {
		return io.ErrUnexpectedEOF
	}
	n, err := s.data.ReadAt(ctx, s.buf, s.in)
	s.in += int64(n)
	if n < len(s.buf) {
		s.buf = s.buf[:0]
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return nil
}
