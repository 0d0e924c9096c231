package nethack

import (
	"context"
	iofs "io/fs"
	"time"

	"recfs/nodes"
)

// clock finds saves by the times in their documents, unless these are null. Times go back where
// somebody set the clock, so the search for the last one begins at the end.
func clock(indexed func(context.Context) (*index, error)) nodes.Clock {
	return nodes.Clock{
		Start: func(ctx context.Context) (time.Time, error) {
			x, err := indexed(ctx)
			if err != nil {
				return time.Time{}, err
			}
			for n := range x.ticks.len() {
				if t, ok := x.utc(n); ok {
					return t, nil
				}
			}
			return time.Time{}, iofs.ErrNotExist
		},
		Tick: func(ctx context.Context, at time.Time) (int64, error) {
			x, err := indexed(ctx)
			if err != nil {
				return 0, err
			}
			last := true
			for n := x.ticks.len() - 1; n >= 0; n-- {
				switch t, ok := x.utc(n); {
				case !ok:
					continue
				case last && t.Before(at):
					return 0, iofs.ErrNotExist
				case !t.After(at):
					return int64(n), nil
				}
				last = false
			}
			return 0, iofs.ErrNotExist
		},
	}
}

// utc returns the time of tick n. ok is false if it is none.
func (x *index) utc(n int) (time.Time, bool) { return utc(x.ticks.at(n).clock, x.zone(n)) }
