package teehistorian

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/mikelolasagasti/xz"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
)

var benchSize = flag.Int64("size", 64, "size of the recording in benchmarks, in MB")

// busyRecording is a real recording that begins with a TICK_SKIP and ends with nobody connected, so
// that its records can be repeated.
const busyRecording = "../../testdata/archive/teehistorian/busy-20.1.teehistorian.xz"

// readBusy returns the busy recording.
func readBusy(tb testing.TB) []byte {
	tb.Helper()
	b, err := busy()
	if err != nil {
		tb.Fatal(err)
	}
	return bytes.Clone(b)
}

var busy = sync.OnceValues(func() ([]byte, error) {
	stored, err := os.ReadFile(busyRecording)
	if err != nil {
		return nil, err
	}
	r, err := xz.NewReader(bytes.NewReader(stored), 0)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
})

// A repeated is a recording with the header of another and its records many times.
type repeated struct {
	head, body []byte
	times      int64
}

func newRepeated(tb testing.TB, size int64) *repeated {
	b := readBusy(tb)
	start := int64(bytes.IndexByte(b[len(magic):], 0) + len(magic) + 1)
	r := &repeated{head: b[:start], body: b[start : len(b)-1]}
	r.times = max(1, (size-start)/int64(len(r.body)))
	return r
}

func (r *repeated) size() int64 { return int64(len(r.head)) + r.times*int64(len(r.body)) + 1 }

func (r *repeated) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		at := off + int64(n)
		body := at - int64(len(r.head))
		switch {
		case body < 0:
			n += copy(p[n:], r.head[at:])
		case body < r.times*int64(len(r.body)):
			n += copy(p[n:], r.body[body%int64(len(r.body)):])
		case at == r.size()-1:
			p[n] = 0x40 // FINISH
			n++
		default:
			return n, io.EOF
		}
	}
	return n, nil
}

func (r *repeated) source() formats.Input {
	return formats.Input{
		ReaderAt: r, Name: "repeated.teehistorian", Size: r.size(), Stored: r.size(), ModTime: time.Unix(1, 0),
	}
}

func benchHeader(b *testing.B, r *repeated) *header {
	b.Helper()
	h, err := readHeader(b.Context(), r.source().At(b.Context()), 0)
	if err != nil {
		b.Fatal(err)
	}
	return h
}

// decodeAll decodes all records and follows the players, keeping nothing.
func decodeAll(r *repeated, h *header) error {
	s := newScanner(r.source().At(context.Background()), h.start, r.size(), newDecoder(h.version1), scanWindow)
	var st state
	var e event
	for {
		if err := s.next(&e.record); err != nil {
			if errors.Is(err, errEnd) {
				return nil
			}
			return err
		}
		st.apply(&e)
	}
}

func BenchmarkDecode(b *testing.B) {
	r := newRepeated(b, *benchSize<<20)
	h := benchHeader(b, r)
	b.SetBytes(r.size())
	for b.Loop() {
		if err := decodeAll(r, h); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	r := newRepeated(b, *benchSize<<20)
	h := benchHeader(b, r)
	b.SetBytes(r.size())
	b.ReportAllocs()
	for b.Loop() {
		x, err := buildIndex(r.source().At(b.Context()), r.size(), h)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(100*float64(len(x.Append(nil)))/float64(r.size()), "%-of-source")
	}
}

// BenchmarkIndexRatio compares the pass that makes an index with one that keeps nothing. The two
// take turns over a short recording, and the best of each counts: what else the machine does must
// not matter.
func BenchmarkIndexRatio(b *testing.B) {
	r := newRepeated(b, 2<<20)
	h := benchHeader(b, r)
	best := func(d *time.Duration, pass func() error) {
		start := time.Now()
		if err := pass(); err != nil {
			b.Fatal(err)
		}
		if took := time.Since(start); *d == 0 || took < *d {
			*d = took
		}
	}
	var straight, index time.Duration
	for b.Loop() {
		best(&straight, func() error { return decodeAll(r, h) })
		best(&index, func() error {
			_, err := buildIndex(r.source().At(b.Context()), r.size(), h)
			return err
		})
	}
	mb := float64(r.size()) / 1e6
	b.ReportMetric(mb/straight.Seconds(), "decode-MB/s")
	b.ReportMetric(mb/index.Seconds(), "index-MB/s")
	b.ReportMetric(straight.Seconds()/index.Seconds(), "ratio")
}

func BenchmarkLines(b *testing.B) {
	root, c := benchTree(b)
	defer c.Close()
	dir := benchDir(b, root, "lines")
	var total int64
	n, err := dir.Len(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	start := time.Now()
	for i := 0; b.Loop(); i++ {
		e, err := dir.At(b.Context(), i%n)
		if err != nil {
			b.Fatal(err)
		}
		text, err := nodes.ReadAll(b.Context(), e.File)
		if err != nil {
			b.Fatal(err)
		}
		total += int64(len(text))
	}
	b.ReportMetric(float64(total)/1e6/time.Since(start).Seconds(), "MB/s")
}

func BenchmarkRandomTick(b *testing.B) {
	root, c := benchTree(b)
	defer c.Close()
	for _, name := range []string{"ticks", "states"} {
		b.Run(name, func(b *testing.B) {
			dir := benchDir(b, root, name)
			n, err := dir.Len(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			rnd := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				e, err := dir.At(b.Context(), rnd.IntN(n))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := nodes.ReadAll(b.Context(), e.File); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTicksInOrder(b *testing.B) {
	root, c := benchTree(b)
	defer c.Close()
	dir := benchDir(b, root, "ticks")
	n, err := dir.Len(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		e, err := dir.At(b.Context(), i%n)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := nodes.ReadAll(b.Context(), e.File); err != nil {
			b.Fatal(err)
		}
	}
}

func benchTree(b *testing.B) (nodes.Dir, *cache.Cache) {
	b.Helper()
	c := cache.New(64<<20, nil)
	root, err := formatstest.Open(b.Context(), Format, newRepeated(b, *benchSize<<20).source(), c)
	if err != nil {
		b.Fatal(err)
	}
	return root, c
}

func benchDir(b *testing.B, root nodes.Dir, name string) nodes.Dir {
	b.Helper()
	e, err := nodes.Child(b.Context(), root, name)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := e.Dir.Len(b.Context()); err != nil {
		b.Fatal(err)
	}
	return e.Dir
}

// BenchmarkTable reads tables from end to end, which makes all their row groups.
func BenchmarkTable(b *testing.B) {
	root, c := benchTree(b)
	defer c.Close()
	dir := benchDir(b, root, "tables")
	for _, name := range []string{"positions", "inputs", "events"} {
		b.Run(name, func(b *testing.B) {
			e, err := nodes.Lookup(b.Context(), dir, name+".parquet")
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(*benchSize << 20)
			for b.Loop() {
				content, err := e.File.Open(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, nodes.Reader(b.Context(), content)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDemo makes demos of twelve running players that nobody asked for before: of a minute,
// for which the aim is 60 ms and 0.4 MB, and of half an hour, for which it is 1.5 s.
func BenchmarkDemo(b *testing.B) {
	root, c := benchTree(b)
	defer c.Close()
	if _, err := demoSize(b, root, "index.json"); err != nil {
		b.Fatal(err)
	}
	for _, length := range []time.Duration{time.Minute, 30 * time.Minute} {
		b.Run(length.String(), func(b *testing.B) {
			first, size := 0, 0
			ticks := int(length/time.Second) * ticksPerSecond
			for b.Loop() {
				first += 1001 // no block is then one of another demo
				size = len(demoOf(b, root, fmt.Sprintf("%d-%d.demo", first, first+ticks-1)))
			}
			b.ReportMetric(float64(size), "B/demo")
		})
	}
}
