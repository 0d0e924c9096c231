package web

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// The limits of docs/tree/serve.md section 5.
const (
	maxWaiting = 256
	maxWait    = 10 * time.Second
)

// turns let so many requests work at a time, and some more wait for that.
type turns struct {
	work    chan struct{}
	waiting *atomic.Int32
}

func newTurns(n int) turns { return turns{make(chan struct{}, n), new(atomic.Int32)} }

// begin waits for the first turn of a request.
func (t turns) begin(ctx context.Context) (*turn, error) {
	mine := &turn{all: t, ctx: ctx}
	if mine.try() {
		return mine, nil
	}
	defer t.waiting.Add(-1)
	if t.waiting.Add(1) > maxWaiting {
		return nil, errBusy
	}
	waiting, cancel := context.WithTimeoutCause(ctx, maxWait, errBusy)
	defer cancel()
	mine.ctx = waiting
	if err := mine.take(); err != nil {
		return nil, err
	}
	mine.ctx = ctx
	return mine, nil
}

// A turn is that of one request, which has none while its client takes its time with what was made,
// and lets others in between after each turnSize.
type turn struct {
	all  turns
	ctx  context.Context
	sent int         // bytes since it was taken
	rest func()      // gives up what the request holds, while it has no turn; nil: it holds nothing
	slow *time.Timer // ends the turn while the client takes its time

	mu   sync.Mutex
	held bool
}

const (
	turnSize  = 1 << 20
	slowWrite = 20 * time.Millisecond
)

// try takes a turn if there is one, and reports whether the request has it or needs none.
func (t *turn) try() bool {
	if t == nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.held {
		select {
		case t.all.work <- struct{}{}:
			t.held = true
		default:
		}
	}
	return t.held
}

// take waits for a turn, unless the request has it.
func (t *turn) take() error {
	if t.try() {
		return nil
	}
	t.give()
	select {
	case t.all.work <- struct{}{}:
		t.mu.Lock()
		t.held, t.sent = true, 0
		t.mu.Unlock()
		return nil
	case <-t.ctx.Done():
		return context.Cause(t.ctx)
	}
}

// leave ends a turn.
func (t *turn) leave() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held {
		t.held = false
		<-t.all.work
	}
}

// give has the request give up what it holds.
func (t *turn) give() {
	if t.rest != nil {
		t.rest()
	}
}

// writing is called before n bytes are written, and what it returns after that.
func (t *turn) writing(n int) (done func()) {
	if t == nil {
		return func() {}
	}
	if t.sent += n; t.sent >= turnSize {
		t.sent = 0
		t.leave()
	}
	if t.slow == nil {
		t.slow = time.AfterFunc(slowWrite, func() {
			t.leave()
			t.give()
		})
	} else {
		t.slow.Reset(slowWrite)
	}
	return func() { t.slow.Stop() }
}
