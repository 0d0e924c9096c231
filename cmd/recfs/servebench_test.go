package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"recfs/formats/source"
	"recfs/fs/web"
	"recfs/fs/web/page"
	"recfs/nodes"
)

// BenchmarkServe compares what a server of an archive at rest takes for files with
// http.FileServer over the same bytes in memory, which has the same times of files and of
// waiting for a request. They take turns in one process with their client, whose processor time
// counts for each: of-floor is 1 where recfs takes no more, and of-8-readers where a request of
// 200 readers takes no more than one of 8, which it is not for http.FileServer either. of-alike
// compares with an http.FileServer that also sends what docs/tree/serve.md wants of every reply:
// six headers more, of a map too large for the small form that Go has for maps, and an end to a
// client that takes nothing.
func BenchmarkServe(b *testing.B) {
	dir := b.TempDir()
	in, err := os.Open(filepath.Join(samples, "teehistorian/busy-20.1.teehistorian.xz"))
	mustB(b, err)
	defer in.Close()
	unpacked, err := exec.Command("xz", "-dc", in.Name()).Output()
	mustB(b, err)
	mustB(b, os.WriteFile(filepath.Join(dir, "busy.teehistorian"), unpacked, 0o666))
	mustB(b, os.WriteFile(filepath.Join(dir, "plain.bin"), bytes.Repeat(unpacked, 16<<20/len(unpacked)+1), 0o666))
	atRest := time.Now().Add(-48 * time.Hour) // in a directory that just changed more is looked at
	for _, name := range []string{"busy.teehistorian", "plain.bin", "."} {
		mustB(b, os.Chtimes(filepath.Join(dir, name), atRest, atRest))
	}
	tree, err := source.OpenLocal(dir)
	mustB(b, err)
	defer tree.Close()
	c, root := openCached(b, tree, 64<<20)
	ours := web.NewServer(web.Options{
		Root: nodes.Entry{Name: ".", Dir: root}, Cache: c, Page: struct{ page.List }{}, MaxRequests: 64, Log: slog.New(slog.DiscardHandler),
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	mustB(b, err)
	go ours.Serve(web.Listener{Listener: l, Loopback: true}) //nolint:errcheck // it is shut down
	defer ours.Shutdown(context.Background())

	memory, headers := fstest.MapFS{}, map[string]http.Header{}
	for _, name := range []string{"plain.bin", "busy.teehistorian/raw", "tables/teehistorian/positions/busy.teehistorian.parquet"} {
		e, err := nodes.Lookup(b.Context(), root, name)
		mustB(b, err)
		content, err := nodes.ReadAll(b.Context(), e.File)
		mustB(b, err)
		memory[name] = &fstest.MapFile{Data: content, ModTime: atRest}
		reply, err := http.Head("http://" + l.Addr().String() + "/" + name)
		mustB(b, err)
		headers[name] = reply.Header
		for _, of := range []string{"Accept-Ranges", "Content-Length", "Date", "Last-Modified"} { // FileServer's own
			reply.Header.Del(of)
		}
	}
	files := http.FileServerFS(memory)
	floor := serveB(b, &http.Server{Handler: files})
	alike := serveB(b, &http.Server{WriteTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), headers[r.URL.Path[1:]])
		files.ServeHTTP(w, r)
	})})

	for name, file := range memory {
		for what, size := range map[string]int{"whole": len(file.Data), "4KiB": 4096} {
			var ofEight [2]float64 // what a request of 8 readers takes
			for _, readers := range []int{1, 8, 200} {
				b.Run(fmt.Sprintf("%s/%s/%d", name, what, readers), func(b *testing.B) {
					n := max(50, 1600/readers) // a connection takes more than a request, and few requests tell nothing
					if what == "whole" {
						n = max(1, 64<<20/size/readers)
					}
					var took [3]time.Duration
					for b.Loop() {
						for i, addr := range []string{l.Addr().String(), floor, alike} {
							before := processorTime()
							getMany(b, addr, name, len(file.Data), size, readers, n)
							took[i] += processorTime() - before
						}
					}
					per := func(i int) float64 { return float64(took[i].Microseconds()) / float64(b.N*n*readers) }
					b.ReportMetric(per(0), "µs")
					b.ReportMetric(per(1), "µs-floor")
					b.ReportMetric(float64(took[1])/float64(took[0]), "of-floor")
					b.ReportMetric(float64(took[2])/float64(took[0]), "of-alike")
					switch readers {
					case 8:
						ofEight = [2]float64{per(0), per(1)}
					case 200:
						b.ReportMetric(ofEight[0]/per(0), "of-8-readers")
						b.ReportMetric(ofEight[1]/per(1), "of-8-readers-floor")
					}
				})
			}
		}
	}
}

// serveB returns the address of a server.
func serveB(b *testing.B, s *http.Server) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	mustB(b, err)
	s.ReadHeaderTimeout, s.IdleTimeout = 10*time.Second, 2*time.Minute
	go s.Serve(l) //nolint:errcheck // it is closed
	b.Cleanup(func() { s.Close() })
	return l.Addr().String()
}

func mustB(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // does not fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// getMany has readers ask n times each for a part of a file, on a connection of their own.
func getMany(b *testing.B, addr, name string, length, size, readers, n int) {
	var all sync.WaitGroup
	for reader := range readers {
		all.Go(func() {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				b.Error(err)
				return
			}
			defer c.Close()
			in := bufio.NewReaderSize(c, 64<<10)
			for i := range n {
				at := 0
				if size < length {
					at = (reader*7919 + i*1234567) % (length - size)
				}
				fmt.Fprintf(c, "GET /%s HTTP/1.1\r\nHost: localhost\r\nRange: bytes=%d-%d\r\n\r\n", name, at, at+size-1)
				reply, err := http.ReadResponse(in, nil)
				if err != nil {
					b.Error(err)
					return
				}
				if got, err := io.Copy(io.Discard, reply.Body); got != int64(size) || err != nil {
					b.Errorf("%s: %d of %d bytes, %v", reply.Status, got, size, err)
					return
				}
			}
		})
	}
	all.Wait()
}
