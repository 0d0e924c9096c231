package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
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

const (
	stallTimeout = 60 * time.Second // how long a client may take no byte of a reply
	slowWrite    = 20 * time.Millisecond

	smallReply = 16 << 10 // bytes of one that is sent at once, with its header
)

// A limitedListener has no more connections at a time than there is room for.
type limitedListener struct {
	net.Listener
	room chan struct{}
}

// Accept implements net.Listener.
func (l limitedListener) Accept() (net.Conn, error) {
	l.room <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.room
		return nil, err
	}
	return &limitedConn{Conn: c, leave: sync.OnceFunc(func() { <-l.room })}, nil
}

// A limitedConn gives up a client that takes nothing. It writes a small reply at once, which
// net/http writes in parts.
type limitedConn struct {
	net.Conn
	leave func()
	turn  atomic.Pointer[turn] // of the request that is answered; it ends while the client is slow

	mu   sync.Mutex    // TLS writes for those who read, too
	held *bytes.Buffer // what is not sent yet; nil: nothing is kept
}

var smallReplies = sync.Pool{New: func() any { return bytes.NewBuffer(make([]byte, 0, smallReply)) }}

// hold keeps what is written until release, or until it is more than a small reply.
func (c *limitedConn) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = smallReplies.Get().(*bytes.Buffer)
}

// release sends what is kept.
func (c *limitedConn) release() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flush()
}

// flush is release for who has the lock.
func (c *limitedConn) flush() error {
	held := c.held
	if held == nil {
		return nil
	}
	c.held = nil
	_, err := c.send(held.Bytes())
	held.Reset()
	smallReplies.Put(held)
	return err
}

type connKey struct{}

// withConn lets connOf find the connection of a request.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// connOf returns the connection of a request; nil: it came over none.
func connOf(r *http.Request) *limitedConn {
	c, _ := r.Context().Value(connKey{}).(*limitedConn)
	return c
}

// Write implements net.Conn.
func (c *limitedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != nil && len(p) <= c.held.Available() {
		return c.held.Write(p)
	}
	if err := c.flush(); err != nil {
		return 0, err
	}
	return c.send(p)
}

// send gives p to the client.
func (c *limitedConn) send(p []byte) (n int, err error) {
	wait := stallTimeout
	if c.turn.Load().isHeld() {
		wait = slowWrite
	}
	for ; ; wait = stallTimeout {
		if err := c.SetWriteDeadline(time.Now().Add(wait)); err != nil {
			return n, err
		}
		taken, err := c.Conn.Write(p[n:])
		n += taken
		switch {
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return n, err
		case wait == slowWrite:
			c.turn.Load().leave()
		case taken == 0:
			return n, err
		}
	}
}

// reset has the connection end by an error when it is closed: to a client of HTTP/1.0 its end is
// that of a body without a length.
func (c *limitedConn) reset() {
	if l, ok := c.Conn.(interface{ SetLinger(seconds int) error }); ok {
		_ = l.SetLinger(0) // else it may look whole
	}
}

// Close implements io.Closer.
func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
