package cache

import (
	"math"
	"time"
)

// A large holds the last values that would each displace many others: to make one again for every
// read of it would be a pass over a whole recording each time. They count as what is kept open, and
// go as soon as others need the memory; those beyond rest bytes also when nobody has asked for any
// for a while.
type large struct {
	*values
	rest  int64
	timer *time.Timer // of what is beyond rest
}

// maxIdle is how long values beyond rest are kept that nobody asks for. A reader of one, piece by
// piece, comes sooner.
const maxIdle = 5 * time.Second

// maxLarge is how many there are at most: what two jobs read of their recordings, and the indexes
// of those.
const maxLarge = 4

// newLarge returns the large values of a budget. What the other values leave of it they may take
// for any time.
func newLarge(budget int64) large {
	l := large{values: newValues(math.MaxInt64), rest: budget - valuesOf(budget)}
	l.most = maxLarge
	l.timer = time.AfterFunc(maxIdle, func() {
		l.setLimit(l.rest)
		l.setLimit(math.MaxInt64)
	})
	return l
}

func (l *large) get(k key) (any, bool) {
	v, ok := l.values.get(k)
	if ok {
		l.timer.Reset(maxIdle)
	}
	return v, ok
}

// put keeps a value, and reports whether the request that has made it has the memory for it.
func (l *large) put(r *reservation, k key, v any, cost int64) bool {
	held := r.spare(cost)
	if held == nil {
		return false
	}
	l.values.put(k, v, cost, held)
	l.timer.Reset(maxIdle)
	return true
}

// clear gives up all values.
func (l *large) clear() {
	l.timer.Stop()
	l.setLimit(0)
}
