package cache_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recfs/cache"
)

const (
	lruMax  = 64
	lruIdle = 10 * time.Second
)

// An opener makes values, and counts how often and how many of them are open.
type opener struct {
	opens, active atomic.Int32
	fail          func(ctx context.Context) error
}

// An opened is a value of an opener.
type opened struct {
	by     *opener
	closed atomic.Bool
}

func (o *opener) open(ctx context.Context) (*opened, error) {
	o.opens.Add(1)
	if o.fail != nil {
		if err := o.fail(ctx); err != nil {
			return nil, err
		}
	}
	o.active.Add(1)
	return &opened{by: o}, nil
}

func newLRU(t *testing.T) *cache.LRU[int, *opened] {
	return cache.NewLRU[int](cache.LRUOptions[*opened]{
		Max: lruMax, Idle: lruIdle,
		Close: func(v *opened) {
			if v.closed.Swap(true) {
				t.Error("closed twice")
			}
			v.by.active.Add(-1)
		},
	})
}

func use(t *testing.T, l *cache.LRU[int, *opened], k int, o *opener) {
	t.Helper()
	r, err := l.Acquire(t.Context(), k, o.open)
	if err != nil {
		t.Fatal(err)
	}
	if r.Value.closed.Load() {
		t.Error("a value in use is closed")
	}
	r.Release()
}

func TestLRUIsBounded(t *testing.T) {
	l := newLRU(t)
	o := &opener{}
	for i := range 3 * lruMax {
		use(t, l, i, o)
	}
	if n := int(o.active.Load()); n != lruMax || l.Len() != n {
		t.Errorf("%d open, %d kept, want %d", n, l.Len(), lruMax)
	}
	use(t, l, 2*lruMax, o) // the one used longest ago
	if n := o.opens.Load(); n != 3*lruMax {
		t.Errorf("opened %d times, want %d", n, 3*lruMax)
	}
	l.Close()
	if n := o.active.Load(); n != 0 {
		t.Errorf("%d values are open after Close", n)
	}
}

func TestLRUKeepsWhatIsInUse(t *testing.T) {
	l := newLRU(t)
	o := &opener{}
	r, err := l.Acquire(t.Context(), -1, o.open)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		use(t, l, i, o)
	}
	l.Close()
	if n := o.active.Load(); n != 1 || r.Value.closed.Load() {
		t.Errorf("%d values are open, want the one in use", n)
	}
	r.Release()
	if n := o.active.Load(); n != 0 {
		t.Errorf("%d values are open after the last use", n)
	}
}

// What is closed while it is in use is let go of by its last user, however that one ends.
func TestLRUForgetAfterClose(t *testing.T) {
	l := newLRU(t)
	o := &opener{}
	r, err := l.Acquire(t.Context(), 1, o.open)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	r.Forget()
	if n := o.active.Load(); n != 0 {
		t.Errorf("%d values are open after the last use", n)
	}
}

func TestLRUForgets(t *testing.T) {
	l := newLRU(t)
	o := &opener{}
	first, err := l.Acquire(t.Context(), 1, o.open)
	if err != nil {
		t.Fatal(err)
	}
	second, err := l.Acquire(t.Context(), 1, o.open)
	if err != nil {
		t.Fatal(err)
	}
	first.Forget()
	if l.Len() != 1 || o.active.Load() != 1 {
		t.Errorf("%d kept, %d open while there is another user", l.Len(), o.active.Load())
	}
	second.Forget()
	if l.Len() != 0 || o.active.Load() != 0 {
		t.Errorf("%d kept, %d open after the last user", l.Len(), o.active.Load())
	}
}

// What failed is not shared any more, and closed when its last user is done.
func TestLRUDiscards(t *testing.T) {
	l := newLRU(t)
	o := &opener{}
	acquire := func() *cache.Ref[int, *opened] {
		r, err := l.Acquire(t.Context(), 1, o.open)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first, second, last := acquire(), acquire(), acquire()
	first.Discard()
	third := acquire()
	if o.opens.Load() != 2 || o.active.Load() != 2 {
		t.Errorf("opened %d times, %d open while a failed one is in use", o.opens.Load(), o.active.Load())
	}
	second.Discard()
	third.Release()
	last.Forget()
	if o.active.Load() != 1 || l.Len() != 1 {
		t.Errorf("%d open, %d kept after its last use", o.active.Load(), l.Len())
	}
	if l.DropIf(1, func(v *opened) bool { return v == first.Value }) || l.Len() != 1 {
		t.Error("what failed took the value with it that was opened after it")
	}
	acquire().Discard()
	if o.active.Load() != 0 || l.Len() != 0 {
		t.Errorf("%d open, %d kept after all failed", o.active.Load(), l.Len())
	}
}

func TestLRUClosesWhatIsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLRU(t)
		busy, idle := &opener{}, &opener{}
		use(t, l, 0, idle)
		for range 10 {
			use(t, l, 1, busy)
			time.Sleep(lruIdle / 2)
		}
		if idle.active.Load() != 0 || busy.active.Load() != 1 || busy.opens.Load() != 1 {
			t.Errorf("idle: %d open, busy: %d open", idle.active.Load(), busy.active.Load())
		}
		for round := range 2 {
			use(t, l, 1, busy)
			time.Sleep(3 * lruIdle)
			if l.Len() != 0 || busy.active.Load() != 0 {
				t.Errorf("round %d: %d values are kept long after the last use", round, l.Len())
			}
		}
	})
}

func TestLRUSharesOneOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLRU(t)
		proceed := make(chan struct{})
		o := &opener{fail: func(context.Context) error { <-proceed; return nil }}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { use(t, l, 7, o) })
		}
		synctest.Wait()
		close(proceed)
		wg.Wait()
		if n := o.opens.Load(); n != 1 {
			t.Errorf("opened %d times by 10 at once", n)
		}
		l.Close()
	})
}

func TestLRUForgetsFailures(t *testing.T) {
	l := newLRU(t)
	broken := errors.New("broken")
	o := &opener{fail: func(context.Context) error { return broken }}
	for range 2 {
		if _, err := l.Acquire(t.Context(), 1, o.open); !errors.Is(err, broken) {
			t.Errorf("%v, want %v", err, broken)
		}
	}
	if o.opens.Load() != 2 || l.Len() != 0 {
		t.Errorf("opened %d times, %d kept", o.opens.Load(), l.Len())
	}
	o.fail = func(context.Context) error { panic("decoder") }
	func() {
		defer func() { recover() }()
		l.Acquire(t.Context(), 1, o.open) //nolint:errcheck // it panics
	}()
	o.fail = nil
	use(t, l, 1, o)
	l.Close()
}

func TestLRUOfInterruptedOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLRU(t)
		o := &opener{}
		o.fail = func(ctx context.Context) error {
			if o.opens.Load() > 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := l.Acquire(ctx, 1, o.open); !errors.Is(err, context.Canceled) {
				t.Errorf("the interrupted one: %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() { use(t, l, 1, o) })
		synctest.Wait()
		cancel()
		wg.Wait()
		if n := o.opens.Load(); n != 2 {
			t.Errorf("opened %d times, want again for the one that goes on", n)
		}
		l.Close()
	})
}
