package cache

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
)

// A reservation is the memory of one request. What the request calls charges it, through the
// context, and never waits: where it does not suffice the request is begun again with more.
type reservation struct {
	a     *account
	units *units // nil: of 0 bytes

	mu    sync.Mutex
	n     int64 // bytes that it has
	used  int64
	short *shortError // nil: it sufficed
	users int         // the request and the computations that it began
}

type reservationKey struct{}

func reservationOf(ctx context.Context) *reservation {
	r, _ := ctx.Value(reservationKey{}).(*reservation)
	return r
}

func (a *account) reserve(ctx context.Context, n int64) (*reservation, error) {
	r := &reservation{a: a, n: n, users: 1}
	if n == 0 {
		return r, nil
	}
	var err error
	r.units, err = a.acquire(ctx, n)
	return r, err
}

// enter counts one more user.
func (r *reservation) enter() {
	if r != nil {
		r.mu.Lock()
		r.users++
		r.mu.Unlock()
	}
}

// leave ends one use, and with the last gives all back.
func (r *reservation) leave() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.users--
	last := r.users == 0
	r.mu.Unlock()
	if last && r.units != nil {
		r.a.release(r.units, r.n)
	}
}

// failed returns the error of what was made without the memory it asked for, else nil.
func (r *reservation) failed() *shortError {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.short
}

// A shortError says that a request needs more memory than it has.
type shortError struct{ n int64 }

func (e *shortError) Error() string {
	return fmt.Sprintf("%v: %d bytes are needed", syscall.ENOMEM, e.n)
}

// Unwrap returns ENOMEM.
func (e *shortError) Unwrap() error { return syscall.ENOMEM }

// IsShort reports whether err is, or comes from, what [Charge] returns when a request has too
// little memory. It says nothing of what is read.
func IsShort(err error) bool {
	_, short := errors.AsType[*shortError](err)
	return short
}

// Held is memory that is charged to a request.
type Held struct {
	r *reservation // nil: it is not counted, or kept
	n int64

	a     *account // once it is kept
	units *units
	place *list.Element
	yield func() bool
}

// Charge counts n bytes to the request of ctx for what is about to be made; outside of one it
// counts nothing. An error says that the request has too little memory, and every caller has to
// return it: the request then begins again, with more.
func Charge(ctx context.Context, n int64) (*Held, error) {
	h := &Held{r: reservationOf(ctx)}
	return h, h.Grow(n)
}

// Grow counts n bytes more.
func (h *Held) Grow(n int64) error {
	if h == nil || h.r == nil {
		return nil
	}
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	if need := h.r.used + n; need > h.r.n {
		if h.r.short == nil || h.r.short.n < need {
			h.r.short = &shortError{need}
		}
		return &shortError{need}
	}
	h.r.used += n
	h.n += n
	return nil
}

// spare is Charge for what can be done without: it returns nil where there is too little memory.
func (r *reservation) spare(n int64) *Held {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.a == nil || r.used+n > r.n {
		return nil
	}
	r.used += n
	return &Held{r: r, n: n}
}

// Size returns how many bytes are counted.
func (h *Held) Size() int64 {
	if h == nil || h.r == nil {
		return 0
	}
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	return h.n
}

// Keep takes the memory out of the request, for what stays open after it. When others need memory
// they call yield, which frees it and reports true, or reports false if it is in use.
func (h *Held) Keep(yield func() bool) {
	if h == nil || h.r == nil || h.n == 0 {
		return
	}
	r := h.r
	r.mu.Lock()
	r.used -= h.n
	r.n -= h.n
	h.units = r.units.split(h.n)
	r.mu.Unlock()
	h.r, h.a, h.yield = nil, r.a, yield
	h.a.mu.Lock()
	h.place = h.a.kept.PushBack(h)
	h.a.mu.Unlock()
}

// Free gives the memory back. It may be called for nil, and again.
func (h *Held) Free() {
	switch {
	case h == nil:
	case h.a != nil:
		h.a.mu.Lock()
		place := h.place
		if place != nil {
			h.a.kept.Remove(place)
			h.place = nil
		}
		h.a.mu.Unlock()
		if place != nil {
			h.a.release(h.units, h.n)
		}
	case h.r != nil:
		h.r.mu.Lock()
		h.r.used -= h.n
		h.n = 0
		h.r.mu.Unlock()
	}
}

// Aside returns a context for what a request leaves behind to go on without it: everything that is
// charged there is refused.
func Aside() context.Context {
	return context.WithValue(context.Background(), reservationKey{}, &reservation{users: 1})
}

// Separate returns a context in which every part of a request takes memory for itself and waits for
// it: for a job on many things that itself holds none.
func Separate(ctx context.Context) context.Context {
	return context.WithValue(ctx, reservationKey{}, (*reservation)(nil))
}
