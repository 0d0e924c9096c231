package cache

import (
	"slices"
	"sync"
	"time"
)

// A large is the last values of which each alone would displace many others: to make one again for every read of it
// would be a pass over a whole recording each time. They count as what is kept open, and go as soon as others need the
// memory; those beyond rest bytes also when nobody has asked for any for a while.
type large struct {
	rest int64

	mu    sync.Mutex
	list  []*largeValue // the last used behind
	used  time.Time     // when one was asked for
	timer *time.Timer   // of trim, if there is more than rest
}

// maxIdle is how long values beyond rest are kept that nobody asks for: who reads one piece by piece comes sooner.
const maxIdle = 5 * time.Second

// restOf is how much of a budget they may take for any time: what the other values leave.
func restOf(budget int64) int64 { return budget - valuesOf(budget) }

// maxLarge is how many there are at most: what two jobs read of their recordings, and the indexes of those.
const maxLarge = 4

// A largeValue has the memory of a value for as long as it is kept.
type largeValue struct {
	key  key
	v    any
	cost int64
	held *Held
}

// tooLarge reports whether a value would displace many others.
func (c *Cache) tooLarge(cost int64) bool { return cost > max(c.budget/8, smallWork) }

func (l *large) get(k key) (any, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.index(k)
	if i < 0 {
		return nil, false
	}
	e := l.list[i]
	l.list = append(slices.Delete(l.list, i, i+1), e)
	l.used = time.Now()
	return e.v, true
}

// index returns where the value for k is, -1 if there is none. The caller holds mu.
func (l *large) index(k key) int {
	return slices.IndexFunc(l.list, func(e *largeValue) bool { return e.key == k })
}

// put keeps a value in place of the one used longest ago, and reports whether the request that has made it has the memory
// for it.
func (l *large) put(r *reservation, k key, v any, cost int64) bool {
	held := r.spare(cost)
	if held == nil {
		return false
	}
	e := &largeValue{k, v, cost, held}
	l.mu.Lock()
	i := l.index(k)
	if i < 0 && len(l.list) == maxLarge {
		i = 0
	}
	var before *Held
	if i >= 0 {
		before = l.list[i].held
		l.list = slices.Delete(l.list, i, i+1)
	}
	l.list = append(l.list, e)
	l.used = time.Now()
	if l.timer == nil && l.bytes() > l.rest {
		l.timer = time.AfterFunc(maxIdle, l.trim)
	}
	held.Keep(func() bool { return l.drop(e) }) // here, as whoever puts the next one frees it
	l.mu.Unlock()
	before.Free()
	return true
}

// bytes is what the values take. The caller holds mu.
func (l *large) bytes() (n int64) {
	for _, e := range l.list {
		n += e.cost
	}
	return n
}

// held returns what the values take.
func (l *large) held() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes()
}

// trim gives up the values used longest ago that are beyond rest, once nobody asks for any.
func (l *large) trim() {
	l.mu.Lock()
	if left := maxIdle - time.Since(l.used); left > 0 && l.timer != nil {
		l.timer.Reset(left)
		l.mu.Unlock()
		return
	}
	l.timer = nil
	n := 0
	for over := l.bytes() - l.rest; over > 0; n++ {
		over -= l.list[n].cost
	}
	list := slices.Clone(l.list[:n])
	l.list = slices.Delete(l.list, 0, n)
	l.mu.Unlock()
	for _, e := range list {
		e.held.Free()
	}
}

// drop gives up a value, and reports whether it was there.
func (l *large) drop(e *largeValue) bool {
	return l.remove(func(other *largeValue) bool { return other == e })
}

// forget gives up the value for k.
func (l *large) forget(k key) { l.remove(func(e *largeValue) bool { return e.key == k }) }

// remove gives up the first value that is which, and reports whether there was one.
func (l *large) remove(which func(*largeValue) bool) bool {
	l.mu.Lock()
	var e *largeValue
	if i := slices.IndexFunc(l.list, which); i >= 0 {
		e = l.list[i]
		l.list = slices.Delete(l.list, i, i+1)
	}
	l.mu.Unlock()
	if e == nil {
		return false
	}
	e.held.Free()
	return true
}

// clear gives up all values.
func (l *large) clear() {
	l.mu.Lock()
	list := l.list
	l.list = nil
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	l.mu.Unlock()
	for _, e := range list {
		e.held.Free()
	}
}
