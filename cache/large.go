package cache

import "sync"

// A large is the last value of a durable Memo that the store does not take, because it alone is more than values may be:
// to make it again for every use would be a pass over a whole recording each time. It counts as what is kept open, and
// goes as soon as others need the memory.
type large struct {
	mu   sync.Mutex
	key  key
	v    any
	held *Held // nil: there is none
}

// tooLarge reports whether the store does not take a value.
func (c *Cache) tooLarge(cost int64) bool { return cost > valuesOf(c.budget)-asideOf(c.budget) }

func (l *large) get(k key) (any, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil || l.key != k {
		return nil, false
	}
	return l.v, true
}

// put keeps a value in place of the one before, if the request that has made it has the memory for it.
func (l *large) put(r *reservation, k key, v any, cost int64) {
	held := r.spare(cost)
	if held == nil {
		return
	}
	l.mu.Lock()
	before := l.held
	l.key, l.v, l.held = k, v, held
	held.Keep(func() bool { return l.drop(held) }) // here, as whoever puts the next one frees it
	l.mu.Unlock()
	before.Free()
}

// drop gives up the value that has this memory, or any, and reports whether there was one.
func (l *large) drop(of *Held) bool {
	l.mu.Lock()
	held := l.held
	if of == nil || of == held {
		l.v, l.held = nil, nil
	} else {
		held = nil
	}
	l.mu.Unlock()
	held.Free()
	return held != nil
}
