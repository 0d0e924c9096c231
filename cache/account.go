package cache

import (
	"container/list"
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// smallWork is up to how many bytes a request counts as small. Small ones have memory of their own,
	// so that they never wait for large ones.
	smallWork = 1 << 20
	smallLane = 16 << 20

	// freeWork is how much large requests may take in all beside half of the budget.
	freeWork = 8 << 20

	// reclaimEvery is how often who waits looks for what can be given up.
	reclaimEvery = 25 * time.Millisecond

	// maxDropped is how much memory of very large requests, of minDropped and more, is left to the garbage
	// collector, which hears of it when the next is there already.
	maxDropped = 32 << 20
	minDropped = 16 << 20
)

// An account counts the memory of what is being made and is no value yet, and of what is kept open
// between requests. The values of the Cache make room for it. Who wants some waits for it before
// anything is made, in the order of coming, and holds none meanwhile; so whatever is held is given
// back. See [Cache.Do].
type account struct {
	c            *Cache
	small, large lane

	mu         sync.Mutex
	work, peak int64
	dropped    int64     // since the last collection
	kept       list.List // of *Held
	reclaiming sync.Mutex
}

// A lane is memory that is given out first come, first served.
type lane struct {
	size int64
	free *semaphore.Weighted
}

func newLane(size int64) lane { return lane{size, semaphore.NewWeighted(size)} }

func newAccount(c *Cache) *account {
	return &account{c: c, small: newLane(smallLane), large: newLane(freeWork + max(c.budget, 0)/2)}
}

// acquire waits for n bytes. Who wants more than a lane has gets all of it, and is alone there. It
// returns how to give them back.
func (a *account) acquire(ctx context.Context, n int64) (*units, error) {
	l := &a.large
	if n <= smallWork {
		l = &a.small
	}
	u := &units{l, min(n, l.size)}
	if !l.free.TryAcquire(u.n) {
		if err := a.wait(ctx, u); err != nil {
			return nil, err
		}
	}
	a.add(n)
	return u, nil
}

// wait waits for a turn, and sees to it that what nobody uses is given up.
func (a *account) wait(ctx context.Context, u *units) error {
	got := make(chan error, 1)
	go func() { got <- u.lane.free.Acquire(ctx, u.n) }()
	look := time.NewTicker(reclaimEvery)
	defer look.Stop()
	for {
		a.reclaim()
		select {
		case err := <-got:
			return err
		case <-look.C:
		}
	}
}

// reclaim lets go of the first thing kept that can be given up.
func (a *account) reclaim() {
	if !a.reclaiming.TryLock() {
		return
	}
	defer a.reclaiming.Unlock()
	a.mu.Lock()
	all := make([]*Held, 0, a.kept.Len())
	for e := a.kept.Front(); e != nil; e = e.Next() {
		all = append(all, e.Value.(*Held))
	}
	a.mu.Unlock()
	for _, h := range all {
		if h.yield() {
			return
		}
	}
}

// add counts n more bytes, and makes room for them where values are.
func (a *account) add(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.work / weightStep
	a.work += n
	a.peak = max(a.peak, a.work)
	if a.work/weightStep != before {
		a.c.makeRoom(a.work - smallLane - freeWork)
	}
}

// release gives n bytes back, which were a part of u.
func (a *account) release(u *units, n int64) {
	a.add(-n)
	if n >= minDropped {
		a.mu.Lock()
		a.dropped += n
		collect := a.dropped >= maxDropped
		if collect {
			a.dropped = 0
		}
		a.mu.Unlock()
		if collect {
			runtime.GC()
		}
	}
	if u != nil {
		u.lane.free.Release(u.n)
	}
}

// units are a part of a lane.
type units struct {
	lane *lane
	n    int64
}

// split takes n bytes of u away, or all that there is.
func (u *units) split(n int64) *units {
	n = min(n, u.n)
	u.n -= n
	return &units{u.lane, n}
}

// weightStep is how exactly room for work is made.
const weightStep = 1 << 20

// makeRoom takes n bytes of the budget away from values, as long as a quarter of it is left to them.
func (c *Cache) makeRoom(n int64) {
	c.store.SetMaximum(weight(max(valuesOf(c.budget)-max(n, 0), c.budget/4) - asideOf(c.budget)))
}

// Work returns how many bytes are counted for what is being made and what is kept open, and the most
// that ever were. They come beside the values, see [Stats].
func (c *Cache) Work() (now, peak int64) {
	c.account.mu.Lock()
	defer c.account.mu.Unlock()
	return c.account.work, c.account.peak
}
