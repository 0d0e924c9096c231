package remote

import (
	"sync"
	"time"
)

// turns number the times to live. What was listed in one holds in it.
type turns struct {
	ttl time.Duration // 0: each look-up is a turn

	mu    sync.Mutex
	n     int64
	end   time.Time // of the turn that it is
	walks int       // that are under way, for which it lasts longer
}

// now returns the number of the turn that it is.
func (t *turns) now() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.number()
}

// number is now with the lock held.
func (t *turns) number() int64 {
	if now := time.Now(); t.ttl <= 0 || t.walks == 0 && !now.Before(t.end) {
		t.n++
		t.end = now.Add(t.ttl)
	}
	return t.n
}

// hold makes the turn last until release, and then for twice as long as that took: a walk may take
// longer than the time to live, and what it listed is looked at next.
func (t *turns) hold() (turn int64, release func()) {
	began := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	turn = t.number()
	t.walks++
	return turn, func() {
		now := time.Now()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.walks--
		if end := now.Add(2 * now.Sub(began)); end.After(t.end) {
			t.end = end
		}
	}
}
