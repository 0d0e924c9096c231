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
// alive. It may Get from other Memos, and from its own with a smaller key, if
// that never leads back to a value that waits for it: Memos stand in layers,
// and each asks those below it.
type Memo[K comparable, V any] struct {
	c    *Cache
	id   uint32
	load loader[K, V] // nil: it is always GetFrom
	peak func(K) int64

	place  func(K) Place // durable if set
	eager  bool          // computes in a context of SavedOnly, too
	encode func(V) []byte
	resume func(context.Context, K, []byte) (V, int64, error)

	mu    sync.Mutex
	calls map[K]*call[V]
}

// A loader computes the value for a key, and how many bytes it keeps alive.
type loader[K comparable, V any] = func(context.Context, K) (V, int64, error)

// A call is one computation under way, with the callers that wait for it.
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

// What a computation takes unless Peak says otherwise. A computation that is worth saving is a pass
// over a whole recording.
const (
	ordinaryPeak = 512 << 10
	durablePeak  = 2 << 20
)

// Peak declares how much memory the computation for a key takes at most, its value among it,
// without what it gets from other Memos or charges itself.
func (m *Memo[K, V]) Peak(peak func(K) int64) *Memo[K, V] {
	m.peak = peak
	return m
}

func (m *Memo[K, V]) peakOf(k K) int64 {
	switch {
	case m.peak != nil:
		return m.peak(k)
	case m.place != nil:
		return durablePeak
	}
	return ordinaryPeak
}

// Durable makes m keep its values on disk as well, at place(k) with the bytes enc gives; where that
// is nil, or the Cache has no disk, it does not. resume brings saved bytes up to date or fails;
// then load runs. A value that resume returned with other bytes than the saved ones is saved again.
// Best effort: a damaged or missing file is only a miss. A value for which enc returns nil is not
// worth a file.
func (m *Memo[K, V]) Durable(place func(K) Place, enc func(V) []byte,
	resume func(context.Context, K, []byte) (V, int64, error),
) *Memo[K, V] {
	m.place, m.encode, m.resume = place, enc, resume
	return m
}

// Eager lets a durable m compute in a context of [SavedOnly] as well, as what it gets from other
// Memos tells what is missing.
func (m *Memo[K, V]) Eager() *Memo[K, V] {
	m.eager = true
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

// Await is Peek that waits for a value that is being computed.
func (m *Memo[K, V]) Await(ctx context.Context, k K) (v V, ok bool) {
	if v, ok = m.Peek(k); ok {
		return v, true
	}
	if cl := m.join(k); cl != nil {
		v, err := m.wait(ctx, k, cl)
		return v, err == nil
	}
	return v, false
}

// Put remembers v, which was computed elsewhere, as the value for k.
func (m *Memo[K, V]) Put(k K, v V, cost int64) { m.c.set(key{m.id, k}, v, cost) }

// Drop forgets the value for k if it is in memory, as nobody is likely to ask for it again soon.
func (m *Memo[K, V]) Drop(k K) { m.c.drop(key{m.id, k}) }

// Save keeps v, the value for k, on disk again: for a durable Memo whose values learn what they do
// not have at first. Such a value must be safe to encode while it learns.
func (m *Memo[K, V]) Save(ctx context.Context, k K, v V) {
	if at := m.placeOf(k); at != nil {
		m.save(ctx, at, "", nil, v)
	}
}

// Saved returns what lies on disk for k at present, which another process may have put there since
// m remembers a value of its own.
func (m *Memo[K, V]) Saved(ctx context.Context, k K) (v V, ok bool) {
	at := m.placeOf(k)
	if at == nil {
		return v, false
	}
	for _, name := range at.Find(ctx).Names {
		if saved, there := m.c.disk.Load(ctx, name); there {
			if v, _, err := m.resume(ctx, k, saved); err == nil {
				return v, true
			}
		}
	}
	return v, false
}

// placeOf returns where the value for k is kept, nil if it is not.
func (m *Memo[K, V]) placeOf(k K) Place {
	if m.place == nil || m.c.disk == nil {
		return nil
	}
	return m.place(k)
}

// Get returns the value for k, computing it at most once however many
// callers ask at the same time. A caller whose ctx ends stops waiting; the
// computation is cancelled only when nobody is left waiting. Errors are not
// remembered; a panic in load becomes an error.
func (m *Memo[K, V]) Get(ctx context.Context, k K) (V, error) { return m.GetFrom(ctx, k, m.load) }

// GetFrom is Get with a function of the caller's in place of that of the Memo: for values that a
// key names but does not lead to. Whatever function the callers of one key give, it makes the same
// value.
func (m *Memo[K, V]) GetFrom(ctx context.Context, k K, load func(context.Context, K) (V, int64, error)) (V, error) {
	if v, ok := m.Peek(k); ok {
		m.c.hits.Add(1)
		return v, nil
	}
	var v V
	if err := ctx.Err(); err != nil {
		return v, err
	}
	if !IsSavedOnly(ctx) {
		if cl := m.join(k); cl != nil { // a caller that waits for another needs no memory
			if v, err := m.wait(ctx, k, cl); !IsShort(err) {
				return v, err
			}
		}
	}
	err := m.c.Do(ctx, m.peakOf(k), func(ctx context.Context) (err error) {
		if IsSavedOnly(ctx) {
			v, err = m.charged(ctx, k, load) // for nobody waits: others may want more of the same value
			return err
		}
		v, err = m.get(ctx, k, load)
		return err
	})
	return v, err
}

// get is GetFrom within a request.
func (m *Memo[K, V]) get(ctx context.Context, k K, load loader[K, V]) (V, error) {
	for {
		m.mu.Lock()
		if v, ok := m.Peek(k); ok {
			m.mu.Unlock()
			m.c.hits.Add(1)
			return v, nil
		}
		cl := m.calls[k]
		own := cl == nil
		if own {
			cl = m.start(ctx, k, load)
		}
		cl.waiters++
		m.mu.Unlock()
		// The request of another one may have had less memory.
		if v, err := m.wait(ctx, k, cl); own || !IsShort(err) {
			return v, err
		}
	}
}

// join counts one more caller that waits for the value for k. It returns nil if that is not being
// computed.
func (m *Memo[K, V]) join(k K) *call[V] {
	m.mu.Lock()
	defer m.mu.Unlock()
	cl := m.calls[k]
	if cl != nil {
		cl.waiters++
	}
	return cl
}

// wait returns the result of a computation, or that ctx ended.
func (m *Memo[K, V]) wait(ctx context.Context, k K, cl *call[V]) (V, error) {
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
			delete(m.calls, k) // the next caller starts anew
		}
	}
	var zero V
	return zero, ctx.Err()
}

// start begins the computation for k in a goroutine of its own. The caller
// holds mu.
func (m *Memo[K, V]) start(ctx context.Context, k K, load loader[K, V]) *call[V] {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	cl := &call[V]{done: make(chan struct{}), cancel: cancel}
	m.calls[k] = cl
	m.c.misses.Add(1)
	r := reservationOf(ctx)
	r.enter()
	go func() {
		v, err := m.charged(ctx, k, load)
		cancel()
		r.leave()
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.calls[k] == cl {
			delete(m.calls, k)
		}
		cl.v, cl.err = v, err
		close(cl.done)
	}()
	return cl
}

// charged is compute with the memory that it takes, and keeps the value. What was made with less is
// not kept.
func (m *Memo[K, V]) charged(ctx context.Context, k K, load loader[K, V]) (v V, err error) {
	held, err := Charge(ctx, m.peakOf(k))
	if err != nil {
		return v, err
	}
	defer held.Free()
	v, cost, err := m.compute(ctx, k, load)
	r := reservationOf(ctx)
	if short := r.failed(); short != nil {
		err = short
	}
	if err != nil {
		return v, err
	}
	held.Free() // what was charged for the value among it
	if !m.c.tooLarge(cost) || !m.c.large.put(r, key{m.id, k}, v, cost) {
		m.c.set(key{m.id, k}, v, cost)
	}
	return v, nil
}

// compute takes the value from disk or from load.
func (m *Memo[K, V]) compute(ctx context.Context, k K, load loader[K, V]) (v V, cost int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	at := m.placeOf(k)
	if at == nil {
		if m.place != nil && IsSavedOnly(ctx) && !m.eager {
			return v, 0, &NotSavedError{}
		}
		return load(ctx, k)
	}
	found, before := at.Find(ctx), ""
	for _, name := range found.Names {
		before = name
		saved, ok := m.c.disk.Load(ctx, name)
		if !ok {
			continue
		}
		v, cost, err = m.resume(ctx, k, saved)
		if short := reservationOf(ctx).failed(); short != nil {
			return v, cost, short
		}
		if err == nil {
			m.c.diskHits.Add(1)
			m.save(ctx, at, name, saved, v)
			return v, cost, nil
		}
		if ctx.Err() != nil {
			return v, cost, err
		}
	}
	if IsSavedOnly(ctx) && !m.eager {
		return v, 0, &NotSavedError{found.Await}
	}
	if v, cost, err = load(ctx, k); err == nil && reservationOf(ctx).failed() == nil {
		m.save(ctx, at, before, nil, v)
	}
	return v, cost, err
}

// save writes v to disk if its bytes are not the saved ones, which lie there under the name before.
// What was found under another name is there under its own from then on, and not under that.
func (m *Memo[K, V]) save(ctx context.Context, at Place, before string, saved []byte, v V) {
	b := m.encode(v)
	if b == nil {
		return
	}
	name := at.Name(ctx)
	if name == "" || name == before && saved != nil && string(b) == string(saved) {
		return
	}
	m.c.disk.Save(name, b)
	if before != "" && before != name {
		m.c.disk.Forget(before)
	}
}
