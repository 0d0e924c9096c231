package cache

import (
	"container/list"
	"sync"
)

// values are those of a Cache up to a limit, the last used.
type values struct {
	mu    sync.Mutex
	limit int64
	bytes int64
	byKey map[key]*list.Element
	order list.List // of *value, the last used in front
}

// valueCost is what a value counts for besides its bytes.
const valueCost = 64

type value struct {
	key  key
	v    any
	cost int64
}

func newValues(limit int64) *values { return &values{limit: limit, byKey: map[key]*list.Element{}} }

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

// put keeps a value, unless it alone is more than the limit.
func (s *values) put(k key, v any, cost int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(s.byKey[k])
	if cost += valueCost; cost > s.limit {
		return
	}
	s.byKey[k] = s.order.PushFront(&value{k, v, cost})
	s.bytes += cost
	s.trim()
}

// drop forgets the value for k.
func (s *values) drop(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(s.byKey[k])
}

// setLimit changes the limit.
func (s *values) setLimit(limit int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = limit
	s.trim()
}

// trim forgets what was used longest ago, as far as there is too much. The caller holds mu.
func (s *values) trim() {
	for s.bytes > s.limit && s.order.Len() > 0 {
		s.remove(s.order.Back())
	}
}

// remove forgets a value, if there is one, for who holds mu.
func (s *values) remove(e *list.Element) {
	if e == nil {
		return
	}
	v := s.order.Remove(e).(*value)
	delete(s.byKey, v.key)
	s.bytes -= v.cost
}

// held returns how many bytes all values count for.
func (s *values) held() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}
