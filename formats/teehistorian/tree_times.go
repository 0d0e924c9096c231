package teehistorian

import (
	"context"
	iofs "io/fs"
	"time"

	"recfs/nodes"
)

// clock counts ticks from the start of the game, tick 0.
func (t *tree) clock(r *recording) nodes.Clock {
	const tick = time.Second / 50
	began, ok := t.header.startTime()
	return nodes.Clock{
		Start: func(context.Context) (time.Time, error) {
			if !ok || r.idx.tickCount() == 0 {
				return time.Time{}, nil
			}
			return began.Add(time.Duration(r.idx.tickNumber(0)) * tick), nil
		},
		Tick: func(_ context.Context, at time.Time) (int64, error) {
			n := int64(at.Sub(began) / tick)
			if !r.idx.spans(n) {
				return 0, iofs.ErrNotExist
			}
			return n, nil
		},
	}
}
