package teehistorian

import (
	"context"
	iofs "io/fs"
	"time"

	"recfs/nodes"
)

// clock counts ticks from the start of the game, tick 0.
func (h *header) clock(x *index) nodes.Clock {
	const tick = time.Second / 50
	began, ok := h.startTime()
	return nodes.Clock{
		Start: func(context.Context) (time.Time, error) {
			if !ok || x.tickCount() == 0 {
				return time.Time{}, nil
			}
			return began.Add(time.Duration(x.tickNumber(0)) * tick), nil
		},
		Tick: func(_ context.Context, at time.Time) (int64, error) {
			n := int64(at.Sub(began) / tick)
			if !x.spans(n) {
				return 0, iofs.ErrNotExist
			}
			return n, nil
		},
	}
}
