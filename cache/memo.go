package cache

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// A Memo is a function from K to V that remembers its results in a Cache,
// whose byte budget all Memos share.
//
// The function is pure. It returns the number of bytes that its value keeps
// alive, and it may Get only from Memos made before its own, or from its own
// with a smaller key, so that waiting cannot form a cycle.
type Memo[K comparable, V any] struct {
	c    *Cache
	id   uint32
	load func(context.Context, K) (V, int64, error)

	name   func(K) string // durable if set
	encode func(V) []byte
	resume func(context.Context, K, []byte) (V, int64, error)

	mu    sync.Mutex
	calls map[K]*call[V]
}

// A call is one computation under way and those who wait for it.
type call[V any] struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiters int
	v       V
	err     error
}

// NewMemo returns a Memo of load that keeps its results in c.
func NewMemo[K comparable, V any](c *Cache, load func(context.Context, K) (V, int64, error)) *Memo[K, V] {
	return &Memo[K, V]{c: c, id: c.memos.Add(1), load: load, calls: map[K]*call[V]{}}
}

// Durable makes m keep its values on disk as well, under name(k) with the
// bytes enc gives; where name is "", or the Cache has no disk, it does not.
// resume brings saved bytes up to date or fails; then load runs. A value
// that resume returned with other bytes than the saved ones is saved again.
// Best effort: a damaged or missing file is only a miss.
func (m *Memo[K, V]) Durable(name func(K) string, enc func(V) []byte,
	resume func(context.Context, K, []byte) (V, int64, error),
) *Memo[K, V] {
	m.name, m.encode, m.resume = name, enc, resume
	return m
}

// Peek returns the value for k only if it is in memory.
func (m *Memo[K, V]) Peek(k K) (V, bool) {
	if v, ok := m.c.get(key{m.id, k}); ok {
		return v.(V), true
	}
	var zero V
	return zero, false
}

// Put remembers v, which was computed elsewhere, as the value for k.
func (m *Memo[K, V]) Put(k K, v V, cost int64) { m.c.set(key{m.id, k}, v, cost) }

// Save keeps v, the value for k, on disk again: for a durable Memo whose values learn what they do not
// have at first. Such a value must be safe to encode while it learns.
func (m *Memo[K, V]) Save(k K, v V) {
	if m.name == nil || m.c.disk == nil {
		return
	}
	if name := m.name(k); name != "" {
		m.save(name, nil, v)
	}
}

// Get returns the value for k, computing it at most once however many
// callers ask at the same time. A caller whose ctx ends stops waiting; the
// computation is cancelled only when nobody is left waiting. Errors are not
// remembered; a panic in load becomes an error.
func (m *Memo[K, V]) Get(ctx context.Context, k K) (V, error) {
	if v, ok := m.Peek(k); ok {
		m.c.hits.Add(1)
		return v, nil
	}
	var zero V
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	if IsSavedOnly(ctx) {
		return m.saved(ctx, k)
	}
	m.mu.Lock()
	if v, ok := m.Peek(k); ok {
		m.mu.Unlock()
		m.c.hits.Add(1)
		return v, nil
	}
	cl := m.calls[k]
	if cl == nil {
		cl = m.start(ctx, k)
	}
	cl.waiters++
	m.mu.Unlock()

	select {
	case <-cl.done:
		return cl.v, cl.err
	case <-ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-cl.done:
		return cl.v, cl.err
	default:
	}
	cl.waiters--
	if cl.waiters == 0 {
		cl.cancel()
		if m.calls[k] == cl {
			delete(m.calls, k) // who comes now starts anew
		}
	}
	return zero, ctx.Err()
}

// start begins the computation for k in a goroutine of its own. The caller
// holds mu.
func (m *Memo[K, V]) start(ctx context.Context, k K) *call[V] {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	cl := &call[V]{done: make(chan struct{}), cancel: cancel}
	m.calls[k] = cl
	m.c.misses.Add(1)
	go func() {
		v, cost, err := m.compute(ctx, k)
		cancel()
		m.mu.Lock()
		defer m.mu.Unlock()
		if err == nil {
			m.c.set(key{m.id, k}, v, cost)
		}
		if m.calls[k] == cl {
			delete(m.calls, k)
		}
		cl.v, cl.err = v, err
		close(cl.done)
	}()
	return cl
}

// compute takes the value from disk or from load.
func (m *Memo[K, V]) compute(ctx context.Context, k K) (v V, cost int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	name := ""
	if m.name != nil && m.c.disk != nil {
		name = m.name(k)
	}
	if name == "" {
		if m.name != nil && m.c.disk == nil && IsSavedOnly(ctx) {
			return v, 0, &NotSavedError{}
		}
		return m.load(ctx, k) // what is not worth saving is cheap
	}
	saved, ok := m.c.disk.Load(name)
	if ok {
		if v, cost, err = m.resume(ctx, k, saved); err == nil {
			m.c.diskHits.Add(1)
			m.save(name, saved, v)
			return v, cost, nil
		}
		if ctx.Err() != nil {
			return v, cost, err
		}
	}
	if IsSavedOnly(ctx) {
		return v, 0, &NotSavedError{name}
	}
	if v, cost, err = m.load(ctx, k); err == nil {
		m.save(name, nil, v)
	}
	return v, cost, err
}

// save writes v to disk if its bytes are not the ones that lie there.
func (m *Memo[K, V]) save(name string, saved []byte, v V) {
	if b := m.encode(v); saved == nil || string(b) != string(saved) {
		m.c.disk.Save(name, b)
	}
}
