package hcrp

import (
	"context"

	"recfs/formats/internal/jsonenc"
)

// A playback plays the ranges of an index.
type playback struct {
	layout Layout
	index  *index
	places bool // only positions are known, and no world
	decode func(context.Context, int) (*chunk, error)
}

// before returns a replay as it is before a tick range.
func (t *playback) before(ctx context.Context, number int) (*replay, error) {
	k := t.index.stretch(number)
	p, err := t.start(k)
	for i := t.index.first(k); err == nil && i < number; i++ {
		err = t.play(ctx, p, i, t.index.ranges[i].Last, nil)
	}
	return p, err
}

// start returns a replay as it is before a stretch.
func (t *playback) start(k int) (*replay, error) {
	p := newReplay(t.layout)
	var err error
	if k >= 0 {
		err = p.decode(t.index.checkpoints[k].Replay)
	}
	if t.places {
		p.places, p.world = true, nil
	}
	return p, err
}

// play plays a tick range up to a tick. w may be nil.
func (t *playback) play(ctx context.Context, p *replay, number int, through int64, w observer) error {
	s := &t.index.ranges[number]
	if s.Cut {
		return nil
	}
	c, err := t.chunkOf(ctx, s)
	if err == nil {
		p.play(s, c, through, w)
	}
	return err
}

// chunkOf returns the chunk of a range.
func (t *playback) chunkOf(ctx context.Context, r *tickRange) (*chunk, error) {
	if r.Hole {
		return &chunk{}, nil
	}
	return t.decode(ctx, int(r.Chunk))
}

// walk plays the tick ranges from begin up to end, as long as more, unless it is nil, returns true.
// watch makes the observer of the replay.
func (t *playback) walk(ctx context.Context, begin, end int, watch func(*replay) observer, more func() bool) error {
	p, err := t.before(ctx, begin)
	w := watch(p)
	for i := begin; err == nil && i < end && (more == nil || more()); i++ {
		err = t.play(ctx, p, i, t.index.ranges[i].Last, w)
	}
	return err
}

// state returns the world after tick n as compact JSON, or errUnknownTick.
func (t *playback) state(ctx context.Context, n int64) ([]byte, error) {
	list := t.index.ranges
	i := t.index.rangeOf(n)
	if i < 0 || list[i].Cut {
		return nil, errUnknownTick
	}
	p, err := t.before(ctx, i)
	if err == nil {
		err = t.play(ctx, p, i, n, nil)
	}
	if err != nil {
		return nil, err
	}
	if p.world == nil {
		return nil, errUnknownTick
	}
	return p.world.appendState(appendStateHead(nil, n, list[i].Chunk)), nil
}

// appendStateHead appends the members of a state in front of those of the world.
func appendStateHead(dst []byte, n int64, chunk int32) []byte {
	dst = append(appendMoment(dst, n), `,"chunk":`...)
	return append(jsonenc.AppendInt(dst, chunk), ',')
}
