package cache

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"recfs/nodes/nodestest"
)

// A crowd are requests of all kinds on one Cache: computations that need others, values that are
// kept open, and charges that come and go.
type crowd struct {
	c     *Cache
	first *Memo[int, int] // that opening a value needs
	memo  *Memo[int, int]
	open  *LRU[int, *Held]
	large int64 // most that one charge takes
}

// depth is how many computations, each of which charges something and opens a value, need each
// other at most.
const depth = 4

func newCrowd(c *Cache) *crowd {
	w := &crowd{c: c, large: 6 << 20}
	w.first = NewMemo(c, w.charge)
	w.memo = NewMemo(c, w.load)
	w.open = NewLRU[int](LRUOptions[*Held]{Max: 8, Idle: 10 * time.Millisecond, Close: (*Held).Free, Cache: c})
	return w
}

// charge computes a value that takes memory on the way.
func (w *crowd) charge(ctx context.Context, k int) (int, int64, error) {
	rnd := rand.New(rand.NewPCG(uint64(k), 0))
	held, err := Charge(ctx, rnd.Int64N(w.large))
	held.Free()
	return k, rnd.Int64N(1 << 20), err
}

// load computes the value for a key, whose remainder by depth says how many others it needs.
func (w *crowd) load(ctx context.Context, k int) (int, int64, error) {
	rnd := rand.New(rand.NewPCG(uint64(k), 1))
	held, err := Charge(ctx, rnd.Int64N(w.large))
	if err != nil {
		return 0, 0, err
	}
	defer held.Free()
	if err := w.use(ctx, rnd.IntN(20)); err != nil {
		return 0, 0, err
	}
	if k%depth > 0 {
		if _, err := w.memo.Get(ctx, k-1); err != nil {
			return 0, 0, err
		}
	}
	return k, rnd.Int64N(1 << 20), ctx.Err()
}

// use opens a value, which takes memory that is kept until others need it, and another computation.
func (w *crowd) use(ctx context.Context, k int) error {
	r, err := w.open.Acquire(ctx, k, func(ctx context.Context) (*Held, error) {
		if _, err := w.first.Get(ctx, k); err != nil {
			return nil, err
		}
		held, err := Charge(ctx, int64(k)<<17)
		if err == nil {
			held.Keep(func() bool { return w.open.Drop(k) })
		}
		return held, err
	})
	if err == nil {
		r.Release()
	}
	return err
}

// request does something, often as a part of one request, sometimes for no longer than a moment.
func (w *crowd) request(ctx context.Context, rnd *rand.Rand) error {
	some := func(ctx context.Context) error {
		switch rnd.IntN(3) {
		case 0:
			return w.use(ctx, rnd.IntN(20))
		case 1:
			held, err := Charge(ctx, rnd.Int64N(w.large))
			defer held.Free()
			return err
		}
		_, err := w.memo.Get(ctx, rnd.IntN(100*depth))
		return err
	}
	if rnd.IntN(4) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(rnd.IntN(3000))*time.Microsecond)
		defer cancel()
	}
	var err error
	if rnd.IntN(2) == 0 {
		err = some(ctx)
	} else {
		err = w.c.Do(ctx, rnd.Int64N(w.large), func(ctx context.Context) error {
			for range rnd.IntN(4) {
				if err := some(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// TestCrowd lets requests of all kinds, some of which are given up, ask for more memory than there
// is: all come to their end, together they take no more than there is but for one that is alone,
// and nothing is left of it.
func TestCrowd(t *testing.T) {
	perReader := nodestest.Times(60, 10)
	for _, budget := range []int64{0, 32 << 20} {
		t.Run(fmt.Sprint(budget>>20), func(t *testing.T) {
			c := newCache(t, budget, nil)
			w := newCrowd(c)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var wg sync.WaitGroup
			for i := range uint64(48) {
				wg.Go(func() {
					rnd := rand.New(rand.NewPCG(i, uint64(budget)))
					for n := range perReader {
						if err := w.request(ctx, rnd); err != nil {
							t.Errorf("request %d of reader %d: %v", n, i, err)
							return
						}
					}
				})
			}
			wg.Wait()
			if ctx.Err() != nil {
				t.Fatal("it has not come to its end")
			}
			w.open.Close()
			// Computations that nobody waits for any more may still be under way.
			now, peak := c.Work()
			for range 1000 {
				c.large.clear()
				if now, peak = c.Work(); now == 0 {
					break
				}
				time.Sleep(time.Millisecond)
			}
			// What one request charges at a time, and at most as much again as it asked for in vain.
			alone := 2 * (2*depth + 1) * (w.large + 20<<17 + ordinaryPeak)
			if most := smallLane + ordinaryLane + max(largest(c), alone); now != 0 || peak > most {
				t.Errorf("%d bytes not given back; %d at most, %d expected", now, peak, most)
			}
		})
	}
}
