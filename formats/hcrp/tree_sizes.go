package hcrp

import "context"

// A sizesKey says of which documents sizes are.
type sizesKey struct {
	group  int  // of tick ranges
	states bool // or ticks
}

// listedSize returns the size of the document of tick n without making it, 0 if it is not known. A single document is
// made for its size. When others beside it are asked for, as ls -l does, the sizes of all in a group of tick ranges are
// learnt at once.
func (rec *recording) listedSize(ctx context.Context, x *indexed, n int64, states bool) int64 {
	number := x.index.rangeOf(n)
	i, listed := x.index.ticks.find(n)
	if number < 0 || !listed {
		return 0
	}
	k := sizesKey{x.groups.of(number), states}
	sizes, ok := rec.sizes.Peek(k)
	if !ok && states {
		if b, made := rec.states.Peek(n); made {
			return int64(len(b))
		}
	}
	if !ok {
		// An error is that of a document that cannot be made, and perhaps not of this one.
		if sizes, ok = rec.sizes.Again(ctx, k); !ok {
			return 0
		}
	}
	return sizes.of(i)
}

func (rec *recording) tickSize(ctx context.Context, n int64) (int64, error) {
	if x, ok := rec.indexes.Peek(struct{}{}); ok {
		if size := rec.listedSize(ctx, x, n, false); size > 0 {
			return size, nil
		}
	}
	_, t, err := rec.tick(ctx, n)
	if err != nil {
		return 0, err
	}
	return t.documentSize(), nil
}

func (rec *recording) stateSize(ctx context.Context, n int64) (int64, error) {
	x, err := rec.index(ctx)
	if err != nil {
		return 0, err
	}
	if size := rec.listedSize(ctx, x, n, true); size > 0 {
		return size, nil
	}
	b, err := rec.states.Get(ctx, n)
	return int64(len(b)), err
}

// loadSizes learns sizes from chunks that are not kept.
func (rec *recording) loadSizes(ctx context.Context, k sizesKey) (s *docSizes, cost int64, err error) {
	x, err := rec.index(ctx)
	if err != nil {
		return nil, 0, err
	}
	bodies := beginPass(rec.eventReader, worldText)
	defer bodies.leave()
	t := rec.playback(x)
	t.decode = func(ctx context.Context, i int) (*chunk, error) {
		if c, ok := rec.chunks.Peek(i); ok {
			return c, nil
		}
		return bodies.decode(ctx, i)
	}
	begin, end := x.groups.ranges(k.group)
	if k.states {
		s, err = t.stateSizes(ctx, begin, end)
	} else {
		s, err = t.tickSizes(ctx, begin, end)
	}
	if err != nil {
		return nil, 0, err
	}
	return s, int64(64 + 4*len(s.sizes)), nil
}
