package web

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/fstest"

	"recfs/nodes"
)

// Benchmarks come in pairs: what net/http does with the same bytes in memory is the floor.

const benchSize = 32 << 20

// floor serves the bytes by net/http alone.
func floor(b *testing.B, content []byte) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: http.FileServerFS(fstest.MapFS{"raw": {Data: content}})}
	go server.Serve(l) //nolint:errcheck // it is closed
	b.Cleanup(func() { server.Close() })
	return "http://" + l.Addr().String() + "/raw"
}

func ours(b *testing.B, content []byte) string {
	s := serve(b, nodes.Entry{Name: ".", Dir: nodes.List(
		nodes.Entry{Name: "raw", File: nodes.Section(nodes.BytesContent(content), 0, int64(len(content)))},
		nodes.Entry{Name: "few", Dir: ticks(1000)}, nodes.Entry{Name: "many", Dir: ticks(1000000)},
	)}, false, func(o *Options) { o.MaxRequests = 64 })
	return "http://" + s.addr + "/raw"
}

func fetch(b *testing.B, c *http.Client, url, ranges string) {
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	if ranges != "" {
		r.Header.Set("Range", ranges)
	}
	reply, err := c.Do(r)
	if err != nil {
		b.Error(err)
		return
	}
	defer reply.Body.Close()
	if _, err := io.Copy(io.Discard, reply.Body); err != nil || reply.StatusCode >= 300 {
		b.Error(reply.Status, err)
	}
}

func client(b *testing.B, connections int) *http.Client {
	t := &http.Transport{MaxIdleConnsPerHost: connections}
	b.Cleanup(t.CloseIdleConnections)
	return &http.Client{Transport: t}
}

func BenchmarkFile(b *testing.B) {
	content := pattern(benchSize)
	for name, start := range map[string]func(*testing.B, []byte) string{"floor": floor, "recfs": ours} {
		b.Run(name+"/whole", func(b *testing.B) {
			url, c := start(b, content), client(b, 1)
			b.SetBytes(benchSize)
			for b.Loop() {
				fetch(b, c, url, "")
			}
		})
		b.Run(name+"/4KiB", func(b *testing.B) {
			url, c, i := start(b, content), client(b, 1), 0
			for b.Loop() {
				i = (i + 1234567) % (benchSize - 4096)
				fetch(b, c, url, fmt.Sprintf("bytes=%d-%d", i, i+4095))
			}
		})
	}
}

// BenchmarkReaders reads a megabyte by each reader.
func BenchmarkReaders(b *testing.B) {
	content := pattern(benchSize)
	for _, readers := range []int{8, 200} {
		for name, start := range map[string]func(*testing.B, []byte) string{"floor": floor, "recfs": ours} {
			b.Run(fmt.Sprint(name, readers), func(b *testing.B) {
				url, c := start(b, content), client(b, readers)
				b.SetBytes(200 << 20)
				for b.Loop() {
					var all sync.WaitGroup
					for range readers {
						all.Go(func() {
							for range 200 / readers {
								fetch(b, c, url, "bytes=0-1048575")
							}
						})
					}
					all.Wait()
				}
			})
		}
	}
}

func BenchmarkFirstPage(b *testing.B) {
	for _, folder := range []string{"few", "many"} {
		b.Run(folder, func(b *testing.B) {
			url, c := ours(b, nil), client(b, 1)
			for b.Loop() {
				fetch(b, c, url[:len(url)-len("raw")]+folder+"/", "")
			}
		})
	}
}
