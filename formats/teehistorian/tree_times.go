package teehistorian

import (
	"context"
	iofs "io/fs"
	"time"

	"recfs/nodes"
)

// clock counts ticks from the start of the game, tick 0.
func (t *tree) clock(x *index) nodes.Clock {
	const tick = tickMS * time.Millisecond
	began := t.start
	return nodes.Clock{
		Start: func(context.Context) (time.Time, error) {
			if x.tickCount() > 0 {
				if t, ok := began.at(x.tickNumber(0)); ok {
					return t, nil
				}
			}
			return time.Time{}, iofs.ErrNotExist
		},
		Tick: func(_ context.Context, at time.Time) (int64, error) {
			n := int64(at.Sub(*began.Time) / tick)
			if !x.spans(n) {
				return 0, iofs.ErrNotExist
			}
			return n, nil
		},
	}
}

// tick returns the tick of a date, or of the first such time of day from the start on.
func (s startTime) tick(text string) (int64, bool) {
	if s.Time == nil {
		return 0, false
	}
	t, ok := nodes.MomentFrom(text, *s.Time)
	return int64(t.Sub(*s.Time) / tickTime(1)), ok
}
