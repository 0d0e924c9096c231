package web

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	stallTimeout = 60 * time.Second // how long a client may take no byte of a reply
	slowWrite    = 20 * time.Millisecond
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

// A limitedConn gives up a client that takes nothing.
type limitedConn struct {
	net.Conn
	leave func()
	turn  atomic.Pointer[turn] // of the request that is answered; it ends while the client is slow
}

type connKey struct{}

// withConn lets connOf find the connection of a request.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// Write implements net.Conn.
func (c *limitedConn) Write(p []byte) (n int, err error) {
	for wait := slowWrite; ; wait = stallTimeout {
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

// Close implements io.Closer.
func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
