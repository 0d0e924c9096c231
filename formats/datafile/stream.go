package datafile

import (
	"context"
	"io"

	"recfs/formats"
)

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

func newRunStream(data formats.ReaderAt, size int64) *runStream {
	return &runStream{data: data, size: size, turn: make(chan struct{}, 1)}
}

// ReadAt implements nodes.ReaderAt for whole tiles of 4 bytes. The run lengths are known to make as
// many as are asked for.
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
		from := n
		for end := min(len(p), n+4*int(s.tile+run-want)); n < end; n += 4 {
			p[n], p[n+1], p[n+2], p[n+3] = s.buf[0], s.buf[1], 0, s.buf[3]
		}
		want += int64(n-from) / 4
		s.skipped += int(want - s.tile)
		s.tile = want
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
