package nethack

import (
	"context"
	"errors"
	"io"

	"recfs/formats"
)

// An outline says where the save lines are. A look at the starts of lines is enough to make it, so
// that directories can be listed before there is an index.
type outline struct {
	ticks  int
	chunks packed // where each begins
	end    int64  // behind the last newline
}

// readOutline reads a log from behind its header on.
func readOutline(ctx context.Context, r io.ReaderAt, start, size int64) (*outline, error) {
	o := &outline{end: start}
	s := newScanner(r, start, size)
	s.most = 1 // the start of a line is enough
	defer s.close()
	for n := 0; ; n++ {
		l, err := s.next(ctx)
		if errors.Is(err, io.EOF) {
			return o, nil
		}
		if err != nil {
			return nil, &formats.Error{Format: name, Offset: o.end, Err: err}
		}
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		o.end = l.end
		if !isSaveLine(l.text) {
			continue
		}
		if l.text[0] == '*' || o.ticks == 0 {
			o.chunks.add(uint64(l.off))
		}
		if o.ticks++; o.ticks > maxTicks {
			return nil, formats.Corrupt(name, l.off, "there are more than %d save lines", maxTicks)
		}
	}
}

// chunk returns where chunk i begins and ends.
func (o *outline) chunk(i int) (start, end int64) {
	end = o.end
	if i+1 < o.chunks.rows {
		end = int64(o.chunks.number(i + 1))
	}
	return int64(o.chunks.number(i)), end
}

// outline returns the outline of the log that an index is of.
func (x *index) outline() *outline {
	o := &outline{ticks: x.ticks.len(), end: x.end}
	for i := range x.chunks.rows {
		o.chunks.add(uint64(x.ticks.off(x.chunks.number(i))))
	}
	return o
}

// behind returns where tick n ends, and what led to it.
func (x *index) behind(n int) int64 {
	switch {
	case n < 0:
		return x.header.size
	case n < x.ticks.len():
		return x.ticks.end(n)
	}
	return x.end
}
