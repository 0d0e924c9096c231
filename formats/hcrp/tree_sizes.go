package hcrp

import "context"

// stateSize returns the size of the state after tick n. A single one is made for it. When states of one stretch
// are asked for again, as ls -l does, the sizes of all of them are learnt at once.
func (rec *recording) stateSize(ctx context.Context, n int64) (int64, error) {
	if b, ok := rec.states.Peek(n); ok {
		return int64(len(b)), nil
	}
	x, err := rec.index(ctx)
	if err != nil {
		return 0, err
	}
	if size := rec.listedSize(ctx, x.index, n); size > 0 {
		return size, nil
	}
	b, err := rec.states.Get(ctx, n)
	return int64(len(b)), err
}

// listedSize returns the size of a state without making it, 0 if it is not known.
func (rec *recording) listedSize(ctx context.Context, x *index, n int64) int64 {
	i, number := x.ticks.search(n), x.rangeOf(n)
	if number < 0 || i == x.ticks.count() || x.ticks.number(i) != n {
		return 0
	}
	// An error is that of a state that cannot be made, and perhaps not of this one.
	sizes, ok := rec.sizes.Again(ctx, x.stretch(number))
	if !ok {
		return 0
	}
	return sizes.of(i)
}

func (rec *recording) loadSizes(ctx context.Context, k int) (*stateSizes, int64, error) {
	x, err := rec.index(ctx)
	if err != nil {
		return nil, 0, err
	}
	s, err := rec.playback(x).stateSizes(ctx, k)
	if err != nil {
		return nil, 0, err
	}
	return s, int64(64 + 4*len(s.sizes)), nil
}
