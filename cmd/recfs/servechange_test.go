package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"recfs/formats/source"
	"recfs/fs/web"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// serveHere serves a directory by this process, and returns the address.
func serveHere(t *testing.T, dir string) string {
	tree, err := source.OpenLocal(dir)
	must(t, err)
	t.Cleanup(func() { tree.Close() })
	c, root := openCached(t, tree, 64<<20)
	s := web.NewServer(web.Options{Root: nodes.Entry{Name: ".", Dir: root}, Cache: c, MaxRequests: 8, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(web.Listener{Listener: l, Loopback: true}) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		s.Shutdown(ctx)
		must(t, <-ended)
	})
	return "http://" + l.Addr().String()
}

// TestServeChanges changes what is served while a reply is on its way: the client gets the bytes
// that there were when it asked, or a connection that ends before the announced length. What it
// asks next is answered by what is there then.
func TestServeChanges(t *testing.T) {
	nodestest.Long(t)
	const size = 32 << 20 // more than sockets hold
	before := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	for _, c := range []struct {
		name   string
		change func(dir, file string) error
		whole  bool // the reply that is on its way has all
		status int  // of the next
	}{
		{"grows", func(_, file string) error {
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("more")
			return err
		}, true, 200},
		{"is shortened", func(_, file string) error { return os.Truncate(file, size/2) }, false, 200},
		{"is another", func(_, file string) error { return os.WriteFile(file, make([]byte, size), 0o666) }, false, 200},
		{"is replaced", func(dir, file string) error {
			other := filepath.Join(dir, "other")
			if err := os.WriteFile(other, []byte("another"), 0o666); err != nil {
				return err
			}
			return os.Rename(other, file)
		}, true, 200},
		{"is gone", func(_, file string) error { return os.Remove(file) }, true, 404},
		{"is gone with all", func(dir, _ string) error { return os.RemoveAll(dir) }, true, 404},
		{"is elsewhere with all", func(dir, _ string) error { return os.Rename(dir, dir+"-moved") }, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "source")
			file := filepath.Join(dir, "sub", "big.bin")
			must(t, os.MkdirAll(filepath.Dir(file), 0o777))
			must(t, os.WriteFile(file, before, 0o666))
			addr := serveHere(t, dir)
			conn, err := net.Dial("tcp", addr[len("http://"):])
			must(t, err)
			defer conn.Close()
			_ = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
			asked := time.Now()
			_, err = io.WriteString(conn, "GET /sub/big.bin HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
			must(t, err)
			reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
			must(t, err)
			defer reply.Body.Close()
			must(t, c.change(dir, file))
			got, err := io.ReadAll(reply.Body)
			kept := time.Since(asked) < 3*time.Second // nothing stays open for longer that nobody reads
			if !bytes.HasPrefix(before, got) || (err == nil) != (len(got) == size) || err == nil && !c.whole || err != nil && c.whole && kept {
				t.Errorf("%d bytes, %v, the first of the file: %t", len(got), err, bytes.HasPrefix(before, got))
			}
			next, body, err := askServer(t, "GET", addr+"/sub/big.bin", "")
			if c.status != 0 && next.StatusCode != c.status || err != nil {
				t.Errorf("then %d %.40s, %v", next.StatusCode, body, err)
			}
			if now, failed := os.ReadFile(file); failed == nil && (!bytes.Equal(body, now) || next.Header.Get("ETag") == reply.Header.Get("ETag")) {
				t.Errorf("then %d bytes as %s, the file has %d and had %s", len(body), next.Header.Get("ETag"), len(now), reply.Header.Get("ETag"))
			}
			if list, _, err := askServer(t, "GET", addr+"/?format=json", ""); list.StatusCode >= 500 || err != nil {
				t.Errorf("the root: %d, %v", list.StatusCode, err)
			}
		})
	}
}
