package hcrp

import (
	"context"
	"sort"
	"strconv"
)

// A playback plays the ranges of an index.
type playback struct {
	layout Layout
	index  *index
	decode func(context.Context, int) (*chunk, error)
}

// before returns a replay as it is before a tick range.
func (t *playback) before(ctx context.Context, number int) (*replay, error) {
	checkpoints := t.index.checkpoints
	k := sort.Search(len(checkpoints), func(k int) bool { return checkpoints[k].Range > number }) - 1
	if k < 0 {
		return newReplay(t.layout), nil
	}
	p, err := decodeReplay(t.layout, checkpoints[k].Replay)
	for i := checkpoints[k].Range; err == nil && i < number; i++ {
		err = t.play(ctx, p, i, t.index.ranges[i].Last, nil)
	}
	return p, err
}

// play plays a tick range up to a tick. The observer, if any, is made for its chunk.
func (t *playback) play(ctx context.Context, p *replay, number int, through int64, watch func(*chunk) observer) error {
	s := &t.index.ranges[number]
	c := &chunk{}
	if !s.Hole {
		var err error
		if c, err = t.decode(ctx, int(s.Chunk)); err != nil {
			return err
		}
	}
	var w observer
	if watch != nil {
		w = watch(c)
	}
	p.play(s, c, through, w)
	return nil
}

// state returns the world after tick n as compact JSON, or errUnknownTick.
func (t *playback) state(ctx context.Context, n int64) ([]byte, error) {
	list := t.index.ranges
	i := sort.Search(len(list), func(i int) bool { return list[i].Last >= n })
	if i == len(list) || list[i].First > n {
		return nil, errUnknownTick
	}
	p, err := t.before(ctx, i)
	if err != nil {
		return nil, err
	}
	if err := t.play(ctx, p, i, n, nil); err != nil {
		return nil, err
	}
	if p.world == nil {
		return nil, errUnknownTick
	}
	out := appendMoment(nil, n)
	out = append(out, `,"chunk":`...)
	out = strconv.AppendInt(out, int64(list[i].Chunk), 10)
	out = append(out, ',')
	return append(p.world.appendState(out), '}'), nil
}
