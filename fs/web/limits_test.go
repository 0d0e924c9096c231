package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recfs/cache"
	"recfs/nodes"
)

// A pipeListener takes connections in memory, so that tests of limits have a clock of their own.
type pipeListener struct {
	conns    chan net.Conn
	accepted int
	closed   chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		l.accepted++
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	close(l.closed)
	return nil
}

func (*pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// dial returns the client's end of a new connection.
func (l *pipeListener) dial() net.Conn {
	client, server := net.Pipe()
	go func() { l.conns <- server }()
	return client
}

// limitsOf runs a test of a server on a clock of its own.
func limitsOf(t *testing.T, root nodes.Entry, test func(t *testing.T, l *pipeListener)) {
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(32<<20, nil)
		defer c.Close()
		s := NewServer(Options{Root: root, Cache: c, MaxRequests: 64, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
		l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
		ended := make(chan error)
		go func() { ended <- s.Serve(Listener{Listener: l, Loopback: true}) }()
		test(t, l)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.Shutdown(ctx)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A client is the other end of a connection.
type pipeClient struct {
	net.Conn
	in *bufio.Reader
}

// ask sends a request; the reply is not read yet.
func ask(t *testing.T, l *pipeListener, path string) pipeClient {
	t.Helper()
	c := l.dial()
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return pipeClient{c, bufio.NewReader(c)}
}

// answer reads a reply.
func (c pipeClient) answer(t *testing.T) (status int, retry, body string) {
	t.Helper()
	reply, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Error(err)
	}
	return reply.StatusCode, reply.Header.Get("Retry-After"), string(b)
}

// Of requests 64 are at work, 256 wait for 10 s, and all others are refused at once.
func TestLimitOfRequests(t *testing.T) {
	goOn := make(chan struct{})
	slow := nodes.Func(func(context.Context) ([]byte, error) {
		<-goOn
		return []byte("made"), nil
	})
	// Each request is for a file of its own, as one that many ask for is made once.
	files := &nodes.Series{Width: 3, N: 400, Number: func(i int) int64 { return int64(i) }, File: func(int64) nodes.File { return slow }}
	limitsOf(t, nodes.Entry{Name: ".", Dir: files}, func(t *testing.T, l *pipeListener) {
		goOn = make(chan struct{})
		began := time.Now()
		var all []pipeClient
		for i := range 64 + maxWaiting {
			all = append(all, ask(t, l, fmt.Sprintf("/%03d", i)))
			synctest.Wait()
		}
		refused := func(c pipeClient, after time.Duration) {
			t.Helper()
			if status, retry, body := c.answer(t); status != 503 || retry != "1" || body != "busy\n" || time.Since(began) != after {
				t.Errorf("%d, ask again after %s, %q after %v", status, retry, body, time.Since(began))
			}
			c.Close()
		}
		refused(ask(t, l, "/320"), 0)
		for _, c := range all[64:] {
			refused(c, maxWait)
		}
		close(goOn)
		for _, c := range all[:64] {
			if status, _, body := c.answer(t); status != 200 || body != "made" {
				t.Errorf("%d %q of a request at work", status, body)
			}
			c.Close()
		}
	})
}

// Of connections 1,024 are open; the next one waits until one of them is closed.
func TestLimitOfConnections(t *testing.T) {
	limitsOf(t, sampleTree(), func(t *testing.T, l *pipeListener) {
		var all []net.Conn
		for range maxConns {
			all = append(all, l.dial())
		}
		synctest.Wait()
		c := l.dial()
		synctest.Wait()
		if l.accepted != maxConns {
			t.Errorf("%d connections are open", l.accepted)
		}
		all[7].Close()
		fmt.Fprint(c, "GET /plain HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if status, _, body := (pipeClient{c, bufio.NewReader(c)}).answer(t); status != 200 || body != "0123456789" {
			t.Errorf("the next one: %d %q", status, body)
		}
		for _, c := range append(all, c) {
			c.Close()
		}
	})
}

// Headers have 10 s and 16 KiB, a body 10 s, and a connection without a request 2 min.
func TestLimitOfHeaders(t *testing.T) {
	limitsOf(t, sampleTree(), func(t *testing.T, l *pipeListener) {
		closedAfter := func(c net.Conn, want time.Duration) {
			t.Helper()
			began := time.Now()
			_, err := io.Copy(io.Discard, c)
			if got := time.Since(began); err != nil || got != want {
				t.Errorf("closed after %v, want %v, %v", got, want, err)
			}
			c.Close()
		}
		c := l.dial()
		fmt.Fprint(c, "GET /plain HTTP/1.1\r\nHost: loc")
		closedAfter(c, headerTimeout)

		c = l.dial()
		fmt.Fprint(c, "GET /plain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhal")
		if status, _, body := (pipeClient{c, bufio.NewReader(c)}).answer(t); status != 400 || body != "bad request body\n" {
			t.Errorf("half a body: %d %q", status, body)
		}
		c.Close()

		kept := ask(t, l, "/plain")
		kept.answer(t)
		closedAfter(kept.Conn, idleTimeout)

		for size, want := range map[int]int{15 << 10: 200, 17 << 10: 431} {
			c := l.dial()
			go fmt.Fprint(c, "GET /plain HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("x", size)+"\r\n\r\n")
			if status, _, _ := (pipeClient{c, bufio.NewReader(c)}).answer(t); status != want {
				t.Errorf("%d bytes of headers: %d, want %d", size, status, want)
			}
			c.Close()
		}
	})
}

// A reply ends when no byte of it was taken for 60 s. Who takes some now and then gets all.
func TestLimitOfSlowClients(t *testing.T) {
	const size = 256 << 10
	root := nodes.Entry{Name: ".", Dir: nodes.List(nodes.Entry{Name: "x", File: nodes.Section(nodes.BytesContent(pattern(size)), 0, size)})}
	limitsOf(t, root, func(t *testing.T, l *pipeListener) {
		c := ask(t, l, "/x")
		began := time.Now()
		time.Sleep(stallTimeout)
		synctest.Wait()
		if _, err := c.in.ReadByte(); err == nil || time.Since(began) != stallTimeout {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		c.Close()

		c = ask(t, l, "/x")
		for range 10 {
			time.Sleep(stallTimeout - time.Second)
			if _, err := io.ReadFull(c.Conn, make([]byte, 10)); err != nil {
				t.Fatal(err)
			}
		}
		if rest, err := io.ReadAll(io.LimitReader(c.Conn, size)); len(rest) != size || err != nil {
			t.Errorf("%d bytes more, %v", len(rest), err)
		}
		c.Close()
	})
}

// What a request has open is closed while its client takes nothing, and opened again for the rest.
func TestSlowClientKeepsNothingOpen(t *testing.T) {
	const size = 1 << 20
	var opens, open atomic.Int32
	root := nodes.Entry{Name: ".", Dir: nodes.List(nodes.Entry{Name: "x", File: nodes.Stream(size, func(context.Context) (nodes.Content, error) {
		opens.Add(1)
		open.Add(1)
		return countedContent{nodes.BytesContent(pattern(size)), &open}, nil
	})})}
	limitsOf(t, root, func(t *testing.T, l *pipeListener) {
		c := ask(t, l, "/x")
		synctest.Wait()
		if n := open.Load(); n != 1 {
			t.Errorf("%d are open while it is read", n)
		}
		time.Sleep(2*contentsIdle + time.Second)
		synctest.Wait()
		if open.Load() != 0 {
			t.Error("it stays open")
		}
		if status, _, body := c.answer(t); status != 200 || body != string(pattern(size)) || opens.Load() != 2 {
			t.Errorf("%d, %d bytes, opened %d times", status, len(body), opens.Load())
		}
		c.Close()
	})
}

// A countedContent counts how many of its kind are open.
type countedContent struct {
	nodes.Content
	open *atomic.Int32
}

func (c countedContent) Close() error {
	c.open.Add(-1)
	return nil
}

// A content that fails for one is opened anew for the next, even while others read it.
func TestFailedContentIsNotShared(t *testing.T) {
	reading, goOn, opens := make(chan bool), make(chan bool), 0
	file := nodes.Stream(1<<20, func(context.Context) (nodes.Content, error) {
		opens++
		return &failsOnce{fails: opens == 1, reading: reading, goOn: goOn}, nil
	})
	recording := &versioned{nodes.List(nodes.Entry{Name: "x", File: file}), "1"}
	s := serve(t, nodes.Entry{Name: ".", Dir: nodes.List(nodes.Entry{Name: "rec.toy", Dir: recording})}, false, nil)
	slow := make(chan int)
	go func() {
		reply, _, _ := s.do("GET", "/rec.toy/x", "Range: bytes=0-9")
		slow <- reply.StatusCode
	}()
	<-reading
	for _, want := range []int{500, 206} {
		if reply, _, _ := s.do("GET", "/rec.toy/x", "Range: bytes=10-19"); reply.StatusCode != want {
			t.Errorf("%d, want %d", reply.StatusCode, want)
		}
	}
	goOn <- true
	if status := <-slow; status != 206 {
		t.Errorf("who read before it failed: %d", status)
	}
}

// A failsOnce is a content of which the first bytes are read slowly and the others fail.
type failsOnce struct {
	fails         bool
	reading, goOn chan bool
}

func (*failsOnce) Size() int64 { return 1 << 20 }
func (c *failsOnce) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	switch {
	case off == 0:
		c.reading <- true
		<-c.goOn
	case c.fails:
		return 0, errors.New("bad block")
	}
	return len(p), nil
}
