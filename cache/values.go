package cache

import (
	"container/list"
	"sync"
)

// values are those of a Cache up to a limit, the last used.
type values struct {
	mu    sync.Mutex
	limit int64
	most  int // 0: any number
	bytes int64
	byKey map[key]*list.Element
	order list.List // of *value, the last used in front
	gone  []*Held   // of values that were forgotten
}

// valueCost is what a value counts for besides its bytes: itself, its key, and its places in the
// map, in the order and in the account. A small value of a small key takes 210 bytes in all.
const valueCost = 256

type value struct {
	key  key
	v    any
	cost int64
	held *Held // the memory that was charged for it; nil: it counts in the budget alone
}

func newValues(limit int64) *values { return &values{limit: limit, byKey: map[key]*list.Element{}} }

// unlock gives back the memory of what was forgotten meanwhile.
func (s *values) unlock() {
	gone := s.gone
	s.gone = nil
	s.mu.Unlock()
	for _, held := range gone {
		held.Free()
	}
}

func (s *values) get(k key) (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byKey[k]
	if e == nil {
		return nil, false
	}
	s.order.MoveToFront(e)
	return e.Value.(*value).v, true
}

// put keeps a value, unless it alone is more than the limit. What is held for it is given back when
// it goes, which is when others need that, too.
func (s *values) put(k key, v any, cost int64, held *Held) {
	s.mu.Lock()
	defer s.unlock()
	s.remove(s.byKey[k])
	if cost += valueCost; cost > s.limit {
		s.gone = append(s.gone, held)
		return
	}
	s.byKey[k] = s.order.PushFront(&value{k, v, cost, held})
	s.bytes += cost
	held.Keep(func() bool { return s.drop(k) }) // here, as the next put may free it
	s.trim()
}

// drop forgets the value for k, and reports whether there was one.
func (s *values) drop(k key) bool {
	s.mu.Lock()
	defer s.unlock()
	e := s.byKey[k]
	s.remove(e)
	return e != nil
}

// setLimit changes the limit.
func (s *values) setLimit(limit int64) {
	s.mu.Lock()
	defer s.unlock()
	s.limit = limit
	s.trim()
}

// trim forgets what was used longest ago, as far as there is too much. The caller holds mu.
func (s *values) trim() {
	for s.order.Len() > 0 && (s.bytes > s.limit || s.most > 0 && s.order.Len() > s.most) {
		s.remove(s.order.Back())
	}
}

// remove forgets a value, if there is one. The caller holds mu.
func (s *values) remove(e *list.Element) {
	if e == nil {
		return
	}
	v := s.order.Remove(e).(*value)
	delete(s.byKey, v.key)
	s.bytes -= v.cost
	s.gone = append(s.gone, v.held)
}

// held returns how many bytes all values count for.
func (s *values) held() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

type key struct {
	memo uint32
	k    any
}

// valuesOf is how much of a budget values may take. The rest is for the
// garbage collector, which would never stop if they filled what it has.
func valuesOf(budget int64) int64 { return budget / 4 * 3 }
