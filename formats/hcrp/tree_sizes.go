package hcrp

import "context"

// A sizesKey says of which documents sizes are.
type sizesKey struct {
	number int  // of a stretch for states, else of a tick range
	states bool // or ticks
}

// listedSize returns the size of the document of tick n without making it, 0 if it is not known. A single document is
// made for its size. When others beside it are asked for, as ls -l does, the sizes of all in the tick range, or of all
// states of the stretch, are learnt at once.
func (rec *recording) listedSize(ctx context.Context, x *index, n int64, states bool) int64 {
	number := x.rangeOf(n)
	i, listed := x.ticks.find(n)
	if number < 0 || !listed {
		return 0
	}
	if states {
		number = x.stretch(number)
	}
	// An error is that of a document that cannot be made, and perhaps not of this one.
	sizes, ok := rec.sizes.Again(ctx, sizesKey{number, states})
	if !ok {
		return 0
	}
	return sizes.of(i)
}

func (rec *recording) tickSize(ctx context.Context, n int64) (int64, error) {
	if x, ok := rec.indexes.Peek(struct{}{}); ok {
		if size := rec.listedSize(ctx, x.index, n, false); size > 0 {
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
	if b, ok := rec.states.Peek(n); ok {
		return int64(len(b)), nil
	}
	x, err := rec.index(ctx)
	if err != nil {
		return 0, err
	}
	if size := rec.listedSize(ctx, x.index, n, true); size > 0 {
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
	bodies := pass{eventReader: rec.eventReader, world: k.states}
	defer bodies.end()
	t := rec.playback(x)
	t.decode = func(ctx context.Context, i int) (*chunk, error) {
		if c, ok := rec.chunks.Peek(i); ok {
			return c, nil
		}
		return bodies.decode(ctx, i)
	}
	if k.states {
		s, err = t.stateSizes(ctx, k.number)
	} else {
		s, err = t.tickSizes(ctx, k.number, rec.chunksOf)
	}
	if err != nil {
		return nil, 0, err
	}
	return s, int64(64 + 4*len(s.sizes)), nil
}
