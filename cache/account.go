package cache

import (
	"container/list"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// smallWork is up to how many bytes a request counts as small, and ordinaryWork as ordinary: what
	// reads of chunks and maps, and passes over recordings of some hours, take, also where they begin
	// again with twice as much. Both have memory of their own, so that they never wait for larger
	// ones.
	smallWork    = 1 << 20
	ordinaryWork = 6 << 20
	smallLane    = 8 << 20
	ordinaryLane = 8 << 20

	// freeWork is how much large requests may take in all beside half of the budget.
	freeWork = 8 << 20

	// reclaimEvery is how often a waiting request looks for what can be given up.
	reclaimEvery = 25 * time.Millisecond

	// maxDropped is how much memory of very large requests, of minDropped and more, is left to the
	// garbage collector, which hears of it when the next is there already.
	maxDropped = 32 << 20
	minDropped = 16 << 20
)

// An account counts the memory of what is being made and is no value yet, and of what is kept open
// between requests. The values of the Cache make room for it. A request that wants some waits for
// it before anything is made, in the order of coming, and holds none meanwhile. So whatever is held
// is given back. See [Cache.Do].
type account struct {
	makeRoom func(n int64) // for so much beside what the values leave anyway
	lanes    [3]lane       // for small, ordinary and large requests

	mu         sync.Mutex
	work, peak int64
	dropped    int64     // since the last collection
	kept       list.List // of *Held
	reclaiming sync.Mutex
}

// A lane is memory for requests of up to most bytes, which is given out first come, first served.
type lane struct {
	most, size int64
	free       *semaphore.Weighted
}

func newLane(most, size int64) lane { return lane{most, size, semaphore.NewWeighted(size)} }

func newAccount(budget int64, makeRoom func(n int64)) *account {
	return &account{makeRoom: makeRoom, lanes: [...]lane{
		newLane(smallWork, smallLane), newLane(ordinaryWork, ordinaryLane),
		newLane(math.MaxInt64, freeWork+max(budget, 0)/2),
	}}
}

// acquire waits for n bytes. A request for more than a lane has gets all of it, and is alone there.
// It returns how to give them back.
func (a *account) acquire(ctx context.Context, n int64) (*units, error) {
	fit := slices.IndexFunc(a.lanes[:], func(l lane) bool { return n <= l.most })
	for i := range a.lanes[fit:] { // a lane for larger ones has room for smaller ones where nobody waits
		if u := newUnits(&a.lanes[fit+i], n); u.lane.free.TryAcquire(u.n) {
			a.add(n)
			return u, nil
		}
	}
	u := newUnits(&a.lanes[fit], n)
	if err := a.wait(ctx, u); err != nil {
		return nil, err
	}
	a.add(n)
	return u, nil
}

// wait waits for a turn, and gives up what nobody uses.
func (a *account) wait(ctx context.Context, u *units) error {
	got := make(chan error, 1)
	go func() { got <- u.lane.free.Acquire(ctx, u.n) }()
	look := time.NewTicker(reclaimEvery)
	defer look.Stop()
	for {
		a.reclaim(u.lane)
		select {
		case err := <-got:
			return err
		case <-look.C:
		}
	}
}

// reclaim lets go of the first thing kept in a lane that can be given up.
func (a *account) reclaim(l *lane) {
	if !a.reclaiming.TryLock() {
		return
	}
	defer a.reclaiming.Unlock()
	a.mu.Lock()
	all := make([]*Held, 0, a.kept.Len())
	for e := a.kept.Front(); e != nil; e = e.Next() {
		if h := e.Value.(*Held); h.units.lane == l {
			all = append(all, h)
		}
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
		a.makeRoom(a.work - smallLane - ordinaryLane - freeWork)
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

// newUnits are those that n bytes take in a lane.
func newUnits(l *lane, n int64) *units { return &units{l, min(n, l.size)} }

// split takes n bytes of u away, or all that there is.
func (u *units) split(n int64) *units {
	n = min(n, u.n)
	u.n -= n
	return &units{u.lane, n}
}

// weightStep is how exactly room for work is made.
const weightStep = 1 << 20
