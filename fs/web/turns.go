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
		mine.held = true
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

// A turn is that of one request, which has none while its client takes what was made.
type turn struct {
	all  *turns
	held bool
}

// take waits for a turn, unless the request has it.
func (t *turn) take(ctx context.Context) error {
	if t.held {
		return nil
	}
	select {
	case t.all.work <- struct{}{}:
		t.held = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave ends a turn.
func (t *turn) leave() {
	if t != nil && t.held {
		t.held = false
		<-t.all.work
	}
}

const (
	stallTimeout = 60 * time.Second // how long a client may take no byte of a reply

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
	for {
		if err := c.SetWriteDeadline(time.Now().Add(stallTimeout)); err != nil {
			return n, err
		}
		taken, err := c.Conn.Write(p[n:])
		if n += taken; taken == 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
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
