package echo

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
)

// benchFrames is a match of ten minutes at 30 frames a second, with 8 players, as recorders store
// it by default.
const benchFrames = 18000

var benchFile = sync.OnceValue(func() []byte {
	b, _ := sample(layoutV3, 2, 8, benchFrames, false, func(w *writer) { w.interval, w.compression = 300, gzipped })
	return b
})

// rate reports how many frames were gone through in a second of processor time since start.
func rate(b *testing.B, start time.Duration) {
	b.ReportMetric(benchFrames*float64(b.N)/(formatstest.CPU()-start).Seconds(), "frames/cpu-s")
}

// BenchmarkDecode decompresses and decodes all chunks.
func BenchmarkDecode(b *testing.B) {
	r := openBytes(b, benchFile())
	start := formatstest.CPU()
	for b.Loop() {
		if n := len(allFrames(b, r)); n != benchFrames {
			b.Fatal(n)
		}
	}
	rate(b, start)
}

// BenchmarkLines renders one chunk after the other as JSON.
func BenchmarkLines(b *testing.B) {
	r := openBytes(b, benchFile())
	x, err := r.Scan(b.Context(), r.size, nil)
	if err != nil {
		b.Fatal(err)
	}
	encoder := NewEncoder(r.Match())
	start := formatstest.CPU()
	for b.Loop() {
		for n := range x.Chunks {
			c, _, err := r.Chunk(b.Context(), x, n, 0, nil, encoder)
			if err != nil {
				b.Fatal(err)
			}
			first := 0
			for _, p := range piecesOf(&x.Chunks[n]) {
				viewLines.render(c.Run(first, p.Frames), nil, 0)
				first += p.Frames
			}
		}
	}
	rate(b, start)
}

// BenchmarkScan makes the index.
func BenchmarkScan(b *testing.B) {
	r := openBytes(b, benchFile())
	start := formatstest.CPU()
	for b.Loop() {
		if _, err := r.Scan(b.Context(), r.size, nil); err != nil {
			b.Fatal(err)
		}
	}
	rate(b, start)
}

// openTree opens a recording of which indexes may be kept on a disk.
func openTree(b testing.TB, data []byte, c *cache.Cache, disk cache.Store) nodes.Dir {
	src := formatstest.BytesInput("match.butter", data, time.Unix(1e9, 0))
	formatstest.Keep(&src, disk)
	dir, err := formatstest.Open(b.Context(), NewButter(Options{}), src, c)
	if err != nil {
		b.Fatal(err)
	}
	return dir
}

// BenchmarkTick opens the recording, whose index is on disk, and reads one frame.
func BenchmarkTick(b *testing.B) {
	disk := memoryStore{}
	warm := cache.New(256<<20, disk)
	readFile(b, openTree(b, benchFile(), warm, disk), "index.json")
	warm.Close()
	i := 0
	for b.Loop() {
		i = (i + 7919) % benchFrames
		c := cache.New(256<<20, disk)
		readFile(b, openTree(b, benchFile(), c, disk), fmt.Sprintf("ticks/%08d.json", i))
		c.Close()
	}
}

// BenchmarkText streams the .echoreplay text, whose index is known.
func BenchmarkText(b *testing.B) {
	c := cache.New(64<<20, nil)
	defer c.Close()
	dir := openTree(b, benchFile(), c, nil)
	readFile(b, dir, "index.json")
	start := formatstest.CPU()
	for b.Loop() {
		b.SetBytes(readFile(b, dir, "export/match.echoreplay"))
	}
	rate(b, start)
}

// readFile reads a file in the pieces in which a mount does, and returns its length.
func readFile(b testing.TB, dir nodes.Dir, name string) int64 {
	e, err := nodes.Lookup(b.Context(), dir, name)
	if err != nil {
		b.Fatal(err)
	}
	content, err := e.File.Open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{nodes.Reader(b.Context(), content)}, make([]byte, 128<<10))
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// memoryStore is a disk for the tests.
type memoryStore map[string][]byte

func (s memoryStore) Load(_ context.Context, name string) ([]byte, bool) {
	b, ok := s[name]
	return b, ok
}
func (s memoryStore) Save(name string, b []byte) { s[name] = b }
func (s memoryStore) Forget(name string)         { delete(s, name) }

// BenchmarkFloorGunzip only expands the chunks that BenchmarkDecode decodes: what no decoder can do
// without.
func BenchmarkFloorGunzip(b *testing.B) {
	r := openBytes(b, benchFile())
	start := formatstest.CPU()
	for b.Loop() {
		for n := range r.Header.Chunks {
			if _, bad, err := r.chunkText(b.Context(), n); bad != nil || err != nil {
				b.Fatal(bad, err)
			}
		}
	}
	rate(b, start)
}

// BenchmarkFloorFloats only has strconv write the numbers of the frames that BenchmarkLines
// renders.
func BenchmarkFloorFloats(b *testing.B) {
	frames := allFrames(b, openBytes(b, benchFile()))
	var buf []byte
	start := formatstest.CPU()
	for b.Loop() {
		for i := range frames {
			buf = buf[:0]
			for t := range frames[i].Teams {
				for _, p := range frames[i].Teams[t].Players {
					for _, pose := range p.Poses {
						forward, left, up := pose.Rotation.Vectors()
						for _, v := range []Vec3{pose.Position, forward, left, up} {
							for _, x := range v {
								buf = strconv.AppendFloat(buf, float64(x), 'f', -1, 32)
							}
						}
					}
				}
			}
		}
	}
	rate(b, start)
}

// BenchmarkTreeLines reads all of lines/, whose index is known, as a mount does.
func BenchmarkTreeLines(b *testing.B) {
	c := cache.New(64<<20, nil)
	defer c.Close()
	dir := openTree(b, benchFile(), c, nil)
	readFile(b, dir, "index.json")
	start := formatstest.CPU()
	for b.Loop() {
		n := int64(0)
		for i := range benchFrames / 300 {
			n += readFile(b, dir, fmt.Sprintf("lines/%06d.jsonl", i))
		}
		b.SetBytes(n)
	}
	rate(b, start)
}

// BenchmarkDamagedChunks reads all of files whose chunks have a frame too many, or bytes behind
// their compressed ones, with less memory than one of the files takes, and reports the processor
// time for a chunk, and how many times as much that is in a file with eight times as many.
func BenchmarkDamagedChunks(b *testing.B) {
	const few, many = 256, 2048
	for name, c := range map[string]struct {
		compression uint8
		frames      int
		behind      string
	}{"sound": {gzipped, 2, ""}, "frames": {gzipped, 3, ""}, "size": {gzipped, 2, "abc"}} {
		b.Run(name, func(b *testing.B) {
			m := newMatch(arena, 2, false)
			w := newWriter(layoutV3, 2, m.table)
			w.interval, w.compression = 100, c.compression
			for range c.frames {
				w.add(m.next())
			}
			w.flush()
			chunk := append(w.chunks[0], c.behind...)
			w.interval = 2
			took := func(n int) float64 {
				w.chunks = slices.Repeat([][]byte{chunk}, n)
				start := formatstest.CPU()
				readTree(b, w.file())
				return float64(formatstest.CPU()-start) / float64(n)
			}
			for b.Loop() {
				of := took(few)
				more := took(many)
				b.ReportMetric(more, "cpu-ns/chunk")
				b.ReportMetric(more/of, "ratio")
			}
		})
	}
}

// readTree reads what can be read of a recording.
func readTree(b *testing.B, data []byte) {
	c := cache.New(512<<10, memoryStore{})
	defer c.Close()
	err := nodes.Walk(b.Context(), openTree(b, data, c, nil), func(_ string, e nodes.Entry, err error) error {
		if err == nil && e.File != nil {
			_, _ = nodes.ReadAll(b.Context(), e.File) // of some chunks nothing can be read
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
