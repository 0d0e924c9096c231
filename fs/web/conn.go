package web

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// stallTimeout is how long a client may take no byte of a reply.
const stallTimeout = 60 * time.Second

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
}

// Write implements net.Conn.
func (c *limitedConn) Write(p []byte) (n int, err error) {
	for {
		if err := c.SetWriteDeadline(time.Now().Add(stallTimeout)); err != nil {
			return n, err
		}
		taken, err := c.Conn.Write(p[n:])
		n += taken
		if err == nil || taken == 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
