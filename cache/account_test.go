package cache

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"recfs/nodes/nodestest"
)

// most is what work may take beside the budget of c, unless something larger is alone.
func most(c *Cache) int64 { return smallLane + ordinaryLane + largest(c) }

// largest is what large requests may take.
func largest(c *Cache) int64 { return c.account.lanes[2].size }

// TestDo runs many requests that learn what they need on the way: all end, and together they never
// take more than there is, but for one that is larger.
func TestDo(t *testing.T) {
	for _, budget := range []int64{0, 32 << 20, 256 << 20} {
		c := newCache(t, budget, nil)
		var wg sync.WaitGroup
		for i := range nodestest.Times(200, 50) {
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(uint64(i), 0))
				err := c.Do(t.Context(), rnd.Int64N(1<<20), func(ctx context.Context) error {
					var all []*Held
					for range 10 {
						h, err := Charge(ctx, rnd.Int64N(4<<20))
						if err != nil {
							return err
						}
						all = append(all, h)
						if rnd.IntN(3) == 0 {
							all[rnd.IntN(len(all))].Free()
						}
						if now, _ := c.Work(); now > most(c)+40<<20 {
							t.Errorf("%d bytes are taken", now)
						}
					}
					for _, h := range all {
						h.Free()
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if now, peak := c.Work(); now != 0 || peak > most(c)+40<<20 {
			t.Errorf("budget %d: %d bytes not given back, %d at most", budget, now, peak)
		}
	}
}

// TestDoAlone gives a request more than there is, and then it is the only large one.
func TestDoAlone(t *testing.T) {
	c := newCache(t, 1<<20, nil)
	huge := 10 * most(c)
	var inside, ran atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			err := c.Do(t.Context(), 0, func(ctx context.Context) error {
				h, err := Charge(ctx, huge)
				if err != nil {
					return err
				}
				defer h.Free()
				if inside.Add(1) > 1 {
					t.Error("another one has as much")
				}
				defer inside.Add(-1)
				ran.Add(1)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, peak := c.Work(); ran.Load() != 8 || peak > huge+smallLane+ordinaryLane {
		t.Errorf("%d ran, %d bytes at most", ran.Load(), peak)
	}
}

// A queue begins requests one after the other, and notes the order in which they get their memory.
type queue struct {
	t     *testing.T
	c     *Cache
	order []string
	wg    sync.WaitGroup
}

// begin lets a request of n bytes have them until the channel, which may be nil, is closed.
func (q *queue) begin(name string, n int64, until <-chan struct{}) {
	q.wg.Go(func() {
		err := q.c.Do(q.t.Context(), n, func(context.Context) error {
			q.order = append(q.order, name)
			if until != nil {
				<-until
			}
			return nil
		})
		if err != nil {
			q.t.Error(err)
		}
	})
	synctest.Wait()
}

// TestDoInOrder lets small and ordinary requests pass by large ones, and lets nobody overtake in a
// lane.
func TestDoInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{t: t, c: newCache(t, 0, nil)}
		until := make(chan struct{})
		q.begin("all", largest(q.c), until)
		q.begin("all again", largest(q.c), nil)
		q.begin("large", ordinaryWork+1, nil)
		q.begin("ordinary", ordinaryWork, nil)
		q.begin("small", smallWork, nil)
		close(until)
		q.wg.Wait()
		if want := []string{"all", "ordinary", "small", "all again", "large"}; !slices.Equal(q.order, want) {
			t.Errorf("order %v, want %v", q.order, want)
		}
	})
}

// TestDoBeyondItsLane gives small requests the memory of larger ones as well, as long as none of
// these waits for it.
func TestDoBeyondItsLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{t: t, c: newCache(t, 0, nil)}
		until := make(chan struct{})
		defer q.wg.Wait()
		defer close(until)
		for range (smallLane + ordinaryLane) / smallWork {
			q.begin("small", smallWork, until)
		}
		q.order = nil
		half := make(chan struct{})
		q.begin("beyond", smallWork, half)
		q.begin("all", largest(q.c), nil)
		q.begin("waits", smallWork, nil)
		close(half)
		synctest.Wait()
		if want := []string{"beyond", "all"}; !slices.Equal(q.order, want) {
			t.Errorf("order %v, want %v", q.order, want)
		}
	})
}

// TestDoInterrupted lets go of a request that waits for memory.
func TestDoInterrupted(t *testing.T) {
	c := newCache(t, 0, nil)
	err := c.Do(t.Context(), 1<<30, func(context.Context) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		return c.Do(ctx, 1<<30, func(context.Context) error { return errors.New("it ran") })
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the end of the context", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = c.Do(ctx, 0, func(ctx context.Context) error {
		cancel()
		_, err := Charge(ctx, 1)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("short when its context ended: %v", err)
	}
	if now, _ := c.Work(); now != 0 {
		t.Errorf("%d bytes not given back", now)
	}
}

// TestShortIsNotKept runs a load that takes a refusal for something else: what it makes then is
// neither kept nor given to anybody, here or on disk.
func TestShortIsNotKept(t *testing.T) {
	d := &mapStore{m: map[string][]byte{}}
	c := newCache(t, 1<<20, d)
	m := NewMemo(c, func(ctx context.Context, k int) (string, int64, error) {
		h, err := Charge(ctx, 10<<20)
		if err != nil {
			return "damaged", 10, nil
		}
		defer h.Free()
		return "sound", 10, nil
	}).Durable(func(int) Place { return named("name") }, func(s string) []byte { return []byte(s) },
		func(_ context.Context, _ int, b []byte) (string, int64, error) { return string(b), 10, nil })
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if v, err := m.Get(t.Context(), 1); v != "sound" || err != nil {
				t.Errorf("%q, %v", v, err)
			}
		})
	}
	wg.Wait()
	if b, _ := d.Load(t.Context(), "name"); string(b) != "sound" {
		t.Errorf("saved %q", b)
	}
	if h, err := Charge(Aside(), 1); err == nil || !IsShort(err) || !errors.Is(err, syscall.ENOMEM) || h.n != 0 {
		t.Errorf("%v, want ENOMEM", err)
	}
}

// TestKeep takes back what is kept open once others need the memory.
func TestKeep(t *testing.T) {
	c := newCache(t, 0, nil)
	var open atomic.Int32
	for range 20 {
		err := c.Do(t.Context(), 0, func(ctx context.Context) error {
			h, err := Charge(ctx, 3<<20)
			if err != nil {
				return err
			}
			open.Add(1)
			h.Keep(func() bool {
				open.Add(-1)
				h.Free()
				h.Free() // of no effect
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if now, _ := c.Work(); now != 3<<20*int64(open.Load()) || now > most(c) {
			t.Errorf("%d open, %d bytes", open.Load(), now)
		}
	}
}

// TestLRUWithoutMemory lets a request that has all memory wait for a value that another one,
// outside of any request, opens: that one must not wait for memory meanwhile.
func TestLRUWithoutMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(0, nil)
		defer c.Close()
		l := NewLRU[int](LRUOptions[string]{Max: 1, Idle: time.Minute, Cache: c})
		defer l.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		open := func(ctx context.Context) (string, error) {
			return "v", c.Do(ctx, 0, func(ctx context.Context) error {
				h, err := Charge(ctx, ordinaryWork+1)
				h.Free()
				return err
			})
		}
		acquire := func(ctx context.Context) error {
			r, err := l.Acquire(ctx, 1, open)
			if err == nil {
				r.Release()
			}
			return err
		}
		err := c.Do(ctx, largest(c), func(inside context.Context) error {
			go func() {
				if err := acquire(ctx); err != nil {
					t.Error(err)
				}
			}()
			time.Sleep(time.Second)
			return acquire(inside)
		})
		if err != nil {
			t.Errorf("%v, want the value", err)
		}
		synctest.Wait()
		time.Sleep(time.Second)
		if now, _ := c.Work(); now != 0 {
			t.Errorf("%d bytes not given back", now)
		}
	})
}
