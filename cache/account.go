package cache

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"syscall"
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

// A reservation is the memory of one request. What the request calls charges it, through the
// context, and never waits: where it does not suffice the request is begun again with more.
type reservation struct {
	a     *account
	units *units // nil: of 0 bytes

	mu    sync.Mutex
	n     int64 // bytes that it has
	used  int64
	short *shortError // nil: it sufficed
	users int         // the request and the computations that it began
}

type reservationKey struct{}

func reservationOf(ctx context.Context) *reservation {
	r, _ := ctx.Value(reservationKey{}).(*reservation)
	return r
}

// enter counts one more user.
func (r *reservation) enter() {
	if r != nil {
		r.mu.Lock()
		r.users++
		r.mu.Unlock()
	}
}

// leave ends one use, and with the last gives all back.
func (r *reservation) leave() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.users--
	last := r.users == 0
	r.mu.Unlock()
	if last && r.units != nil {
		r.a.release(r.units, r.n)
	}
}

// failed returns the error of what was made without the memory it asked for, else nil.
func (r *reservation) failed() *shortError {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.short
}

// A shortError says that a request needs more memory than it has.
type shortError struct{ n int64 }

func (e *shortError) Error() string {
	return fmt.Sprintf("%v: %d bytes are needed", syscall.ENOMEM, e.n)
}

// Unwrap returns ENOMEM.
func (e *shortError) Unwrap() error { return syscall.ENOMEM }

// IsShort reports whether err is, or comes from, what [Charge] returns when a request has too
// little memory. It says nothing of what is read.
func IsShort(err error) bool {
	_, short := errors.AsType[*shortError](err)
	return short
}

// Held is memory that is charged to a request.
type Held struct {
	r *reservation // nil: it is not counted, or kept
	n int64

	a     *account // once it is kept
	units *units
	place *list.Element
	yield func() bool
}

// Charge counts n bytes to the request of ctx for what is about to be made; outside of one it
// counts nothing. An error says that the request has too little memory, and every caller has to
// return it: the request then begins again, with more.
func Charge(ctx context.Context, n int64) (*Held, error) {
	h := &Held{r: reservationOf(ctx)}
	return h, h.Grow(n)
}

// Grow counts n bytes more.
func (h *Held) Grow(n int64) error {
	if h == nil || h.r == nil {
		return nil
	}
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	if need := h.r.used + n; need > h.r.n {
		if h.r.short == nil || h.r.short.n < need {
			h.r.short = &shortError{need}
		}
		return &shortError{need}
	}
	h.r.used += n
	h.n += n
	return nil
}

// spare is Charge for what can be done without: it returns nil where there is too little memory.
func (r *reservation) spare(n int64) *Held {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.a == nil || r.used+n > r.n {
		return nil
	}
	r.used += n
	return &Held{r: r, n: n}
}

// Size returns how many bytes are counted.
func (h *Held) Size() int64 {
	if h == nil || h.r == nil {
		return 0
	}
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	return h.n
}

// Keep takes the memory out of the request, for what stays open after it. When others need memory
// they call yield, which frees it and reports true, or reports false if it is in use.
func (h *Held) Keep(yield func() bool) {
	if h == nil || h.r == nil || h.n == 0 {
		return
	}
	r := h.r
	r.mu.Lock()
	r.used -= h.n
	r.n -= h.n
	h.units = r.units.split(h.n)
	r.mu.Unlock()
	h.r, h.a, h.yield = nil, r.a, yield
	h.a.mu.Lock()
	h.place = h.a.kept.PushBack(h)
	h.a.mu.Unlock()
}

// Free gives the memory back. It may be called for nil, and again.
func (h *Held) Free() {
	switch {
	case h == nil:
	case h.a != nil:
		h.a.mu.Lock()
		place := h.place
		if place != nil {
			h.a.kept.Remove(place)
			h.place = nil
		}
		h.a.mu.Unlock()
		if place != nil {
			h.a.release(h.units, h.n)
		}
	case h.r != nil:
		h.r.mu.Lock()
		h.r.used -= h.n
		h.n = 0
		h.r.mu.Unlock()
	}
}

// Aside returns a context for what a request leaves behind to go on without it: everything that is
// charged there is refused.
func Aside() context.Context {
	return context.WithValue(context.Background(), reservationKey{}, &reservation{users: 1})
}

// Separate returns a context in which every part of a request takes memory for itself and waits for
// it: for a job on many things that itself holds none.
func Separate(ctx context.Context) context.Context {
	return context.WithValue(ctx, reservationKey{}, (*reservation)(nil))
}
