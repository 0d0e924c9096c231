package cache

import "sync"

// Recent remembers a bounded number of values outside of the budget: the last
// limit that were put, and up to as many before them. It is for what may be
// forgotten at some cost, and must not grow with what was ever looked at.
type Recent[K comparable, V any] struct {
	limit int

	mu          sync.Mutex
	last, older map[K]V
}

// NewRecent returns a Recent of at least limit values.
func NewRecent[K comparable, V any](limit int) *Recent[K, V] {
	return &Recent[K, V]{limit: limit, last: map[K]V{}}
}

// Get returns the value for k if it is remembered.
func (r *Recent[K, V]) Get(k K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.get(k)
}

// Swap remembers v for k and returns the value before.
func (r *Recent[K, V]) Swap(k K, v V) (before V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, ok = r.get(k)
	if _, has := r.last[k]; !has && len(r.last) >= r.limit {
		r.last, r.older = map[K]V{}, r.last
	}
	r.last[k] = v
	return before, ok
}

// get is Get for a caller that holds mu.
func (r *Recent[K, V]) get(k K) (v V, ok bool) {
	if v, ok = r.last[k]; !ok {
		v, ok = r.older[k]
	}
	return v, ok
}
