package cache

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

// LRUOptions bound what an [LRU] keeps open beyond what is in use.
type LRUOptions[V any] struct {
	Max   int           // values in all; those in use are never closed
	Idle  time.Duration // a value without a user is closed after one to two of these
	Close func(V)       // lets go of a value; nil: nothing has to be done
	Cache *Cache        // where opening a value may take memory; nil: it takes none
}

// An LRU keeps values open between uses: files, contents. A value is opened once however many ask
// for it at the same time, is shared by all who use it, and is closed when it is neither in use nor
// kept: because others were used since, or because nobody came for a while.
type LRU[K comparable, V any] struct {
	opt LRUOptions[V]

	mu     sync.Mutex
	byKey  map[K]*Ref[K, V]
	recent list.List   // of *Ref, the last used in front
	timer  *time.Timer // nil while nothing is kept
	closed bool
	gone   []V // to be closed once mu is free, as that may take a while
}

// A Ref is a value in use. Every Acquire that returned it needs one Release, Forget or Discard.
type Ref[K comparable, V any] struct {
	Value V

	l       *LRU[K, V]
	key     K
	err     error
	ready   chan struct{} // closed once Value or err is set
	place   *list.Element // nil: not kept
	users   int
	touched bool // since the last sweep
}

// NewLRU returns an LRU that keeps nothing yet.
func NewLRU[K comparable, V any](opt LRUOptions[V]) *LRU[K, V] {
	return &LRU[K, V]{opt: opt, byKey: map[K]*Ref[K, V]{}}
}

// Acquire returns the value for k, which open makes if it is not kept. All who ask at the same time
// share one call of open, but not the end of its context: a caller that is still waiting then opens
// it again. Errors are not kept.
//
// What opens a value is a part of a request, see [Cache.Do]: outside of one it would wait for
// memory while others, who have that memory, wait for the value.
func (l *LRU[K, V]) Acquire(ctx context.Context, k K, open func(context.Context) (V, error)) (r *Ref[K, V], err error) {
	if r := l.Opened(k); r != nil {
		return r, nil
	}
	err = l.opt.Cache.Do(ctx, 0, func(ctx context.Context) (err error) {
		if r != nil { // opened in an attempt that had too little memory
			r.Release()
		}
		r, err = l.acquire(ctx, k, open)
		return err
	})
	if err != nil && r != nil {
		r.Release()
		r = nil
	}
	return r, err
}

// Opened returns the value for k for one more user if it is open, else nil.
func (l *LRU[K, V]) Opened(k K) *Ref[K, V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.byKey[k]
	if r == nil {
		return nil
	}
	select {
	case <-r.ready:
	default:
		return nil
	}
	l.use(r)
	return r
}

// use counts one more user. The caller holds the lock.
func (l *LRU[K, V]) use(r *Ref[K, V]) {
	r.users++
	r.touched = true
	l.recent.MoveToFront(r.place)
}

// acquire is Acquire within a request, or without memory.
func (l *LRU[K, V]) acquire(ctx context.Context, k K, open func(context.Context) (V, error)) (*Ref[K, V], error) {
	for {
		r, found := l.join(k)
		if !found {
			if err := l.open(ctx, r, open); err != nil {
				return nil, err
			}
			return r, nil
		}
		err := r.wait(ctx)
		if err == nil {
			return r, nil
		}
		r.Release()
		if ctx.Err() != nil || !ofOpener(err) {
			return nil, err
		}
	}
}

// ofOpener reports whether an error is about the caller that opened a value, not about the value.
func ofOpener(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || IsShort(err)
}

// wait returns when the value is open, or cannot be, or ctx ends. What is open already is of use
// even to a caller who was interrupted.
func (r *Ref[K, V]) wait(ctx context.Context) error {
	select {
	case <-r.ready:
		return r.err
	default:
	}
	select {
	case <-r.ready:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join returns the Ref of k for one more user, and whether it was there before: who finds a new one
// has to open it.
func (l *LRU[K, V]) join(k K) (r *Ref[K, V], found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.byKey[k]; r != nil {
		l.use(r)
		return r, true
	}
	r = &Ref[K, V]{l: l, key: k, ready: make(chan struct{}), users: 1, touched: true}
	r.place = l.recent.PushFront(r)
	l.byKey[k] = r
	if l.timer == nil && !l.closed {
		l.timer = time.AfterFunc(l.opt.Idle, l.sweep)
	}
	return r, false
}

// open makes the value of r. If that fails, or panics, r is forgotten.
func (l *LRU[K, V]) open(ctx context.Context, r *Ref[K, V], open func(context.Context) (V, error)) error {
	r.err = errors.New("opening failed") // unless open returns
	defer func() {
		l.mu.Lock()
		defer l.unlock()
		if r.err != nil {
			l.drop(r)
		} else if r.place != nil {
			l.trim()
		}
		close(r.ready)
	}()
	r.Value, r.err = open(ctx)
	return r.err
}

// Release ends one use.
func (r *Ref[K, V]) Release() {
	r.l.mu.Lock()
	defer r.l.unlock()
	r.users--
	r.closeUnused()
	r.l.trim()
}

// Forget ends one use of a value that is not likely to be used again: if nobody else uses it, it is
// not kept.
func (r *Ref[K, V]) Forget() {
	r.l.mu.Lock()
	if r.users == 1 {
		r.l.drop(r)
	}
	r.l.mu.Unlock()
	r.Release()
}

// Discard ends one use of a value that has failed: whoever asks from now on has it opened anew.
func (r *Ref[K, V]) Discard() {
	r.l.mu.Lock()
	r.l.drop(r)
	r.l.mu.Unlock()
	r.Release()
}

// Drop closes the value for k if nobody uses it, and reports whether it did.
func (l *LRU[K, V]) Drop(k K) bool { return l.DropIf(k, func(V) bool { return true }) }

// DropIf is Drop for a value for which which is true: after a Discard k has another one.
func (l *LRU[K, V]) DropIf(k K, which func(V) bool) bool {
	l.mu.Lock()
	defer l.unlock()
	r := l.byKey[k]
	if r == nil || r.users > 0 || !which(r.Value) {
		return false
	}
	l.drop(r)
	return true
}

// trim drops the values used longest ago, as far as there are too many. The caller holds the lock.
func (l *LRU[K, V]) trim() {
	if l.recent.Len() > l.opt.Max {
		l.dropUnused(func(*Ref[K, V]) bool { return l.recent.Len() > l.opt.Max })
	}
}

// sweep drops what was not used since the last sweep.
func (l *LRU[K, V]) sweep() {
	l.mu.Lock()
	defer l.unlock()
	l.dropUnused(func(r *Ref[K, V]) bool { return !r.touched })
	for _, r := range l.byKey {
		r.touched = false
	}
	if l.closed || l.recent.Len() == 0 {
		l.timer = nil
		return
	}
	l.timer.Reset(l.opt.Idle)
}

// dropUnused drops the values without a user for which which is true, first the value that was used
// longest ago. The caller holds the lock.
func (l *LRU[K, V]) dropUnused(which func(*Ref[K, V]) bool) {
	for e := l.recent.Back(); e != nil; {
		r := e.Value.(*Ref[K, V])
		e = e.Prev()
		if r.users == 0 && which(r) {
			l.drop(r)
		}
	}
}

// drop stops keeping r. The caller holds the lock.
func (l *LRU[K, V]) drop(r *Ref[K, V]) {
	if r.place == nil {
		return
	}
	l.recent.Remove(r.place)
	delete(l.byKey, r.key)
	r.place = nil
	r.closeUnused()
}

// closeUnused closes the value if nobody can use it any more. The caller holds the lock.
func (r *Ref[K, V]) closeUnused() {
	if r.users == 0 && r.place == nil && r.err == nil && r.l.opt.Close != nil {
		r.l.gone = append(r.l.gone, r.Value)
	}
}

// unlock closes what nobody can use any more.
func (l *LRU[K, V]) unlock() {
	gone := l.gone
	l.gone = nil
	l.mu.Unlock()
	for _, v := range gone {
		l.opt.Close(v)
	}
}

// Close drops everything; what is in use is closed when its last user is done.
func (l *LRU[K, V]) Close() {
	l.mu.Lock()
	defer l.unlock()
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
	}
	for _, r := range l.byKey {
		l.drop(r)
	}
}

// Len returns how many values are kept.
func (l *LRU[K, V]) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.recent.Len()
}

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
