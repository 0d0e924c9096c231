package nethack

import (
	"context"
	iofs "io/fs"
	"time"

	"recfs/nodes"
)

// clock tells the saves by the times that their documents have. They can go back where somebody set
// the clock, so that the last one is looked for from the end.
func clock(indexed func(context.Context) (*index, error)) nodes.Clock {
	return nodes.Clock{
		Start: func(ctx context.Context) (time.Time, error) {
			x, err := indexed(ctx)
			if err != nil || x.ticks.len() == 0 {
				return time.Time{}, err
			}
			t, _ := utc(x.ticks.at(0).clock, x.zone(0))
			return t, nil
		},
		Tick: func(ctx context.Context, at time.Time) (int64, error) {
			x, err := indexed(ctx)
			if err != nil {
				return 0, err
			}
			last := x.ticks.len() - 1
			for n := last; n >= 0; n-- {
				switch t, ok := utc(x.ticks.at(n).clock, x.zone(n)); {
				case ok && n == last && t.Before(at):
					return 0, iofs.ErrNotExist
				case ok && !t.After(at):
					return int64(n), nil
				}
			}
			return 0, iofs.ErrNotExist
		},
	}
}
