package cache

import (
	"container/list"
	"sync"
)

// An aside has the values that the store gave up last, those used last among them. The store keeps what
// is used often, and gives up a new value at once where all others were used more; but who asked for it
// reads it piece by piece, and comes again.
type aside struct {
	limit uint64 // weight

	mu     sync.Mutex
	weight uint64
	byKey  map[key]*list.Element
	order  list.List // of *given, the last used in front
}

// A given is a value that the store gave up.
type given struct {
	key   key
	value value
}

func newAside(limit uint64) *aside { return &aside{limit: limit, byKey: map[key]*list.Element{}} }

func (a *aside) get(k key) (any, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.byKey[k]
	if e == nil {
		return nil, false
	}
	a.order.MoveToFront(e)
	return e.Value.(*given).value.v, true
}

// put keeps a value, unless it alone is more than the limit.
func (a *aside) put(k key, v value) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.remove(a.byKey[k])
	if uint64(v.cost) > a.limit {
		return
	}
	a.byKey[k] = a.order.PushFront(&given{k, v})
	a.weight += uint64(v.cost)
	for a.weight > a.limit {
		a.remove(a.order.Back())
	}
}

// drop forgets the value for k.
func (a *aside) drop(k key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.remove(a.byKey[k])
}

// remove forgets a value, if there is one, for who holds mu.
func (a *aside) remove(e *list.Element) {
	if e == nil {
		return
	}
	g := a.order.Remove(e).(*given)
	delete(a.byKey, g.key)
	a.weight -= uint64(g.value.cost)
}

// held returns the weight of all values.
func (a *aside) held() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.weight
}
