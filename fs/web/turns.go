package web

import (
	"context"
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
	waiting atomic.Int32
}

func newTurns(n int) *turns { return &turns{work: make(chan struct{}, n)} }

// begin waits for the first turn of a request.
func (t *turns) begin(ctx context.Context) (*turn, error) {
	mine := &turn{all: t}
	select {
	case t.work <- struct{}{}:
		mine.held.Store(true)
		return mine, nil
	default:
	}
	defer t.waiting.Add(-1)
	if t.waiting.Add(1) > maxWaiting {
		return nil, errBusy
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxWait, errBusy)
	defer cancel()
	return mine, mine.take(ctx)
}

// A turn is that of one request, which has none while its client takes its time with what was made,
// and lets others in between after each turnSize.
type turn struct {
	all  *turns
	held atomic.Bool
	sent int // bytes since it was taken
}

const turnSize = 1 << 20

// take waits for a turn, unless the request has it.
func (t *turn) take(ctx context.Context) error {
	if t.held.Load() {
		return nil
	}
	select {
	case t.all.work <- struct{}{}:
		t.sent = 0
		t.held.Store(true)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// isHeld reports whether a request has its turn.
func (t *turn) isHeld() bool { return t != nil && t.held.Load() }

// leave ends a turn.
func (t *turn) leave() {
	if t != nil && t.held.CompareAndSwap(true, false) {
		<-t.all.work
	}
}

// wrote is called after n bytes were written.
func (t *turn) wrote(n int) {
	if t == nil {
		return
	}
	if t.sent += n; t.sent >= turnSize {
		t.sent = 0
		t.leave()
	}
}
