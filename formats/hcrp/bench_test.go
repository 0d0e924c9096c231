package hcrp

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/views"
	"recfs/nodes/nodestest"
)

// longFile returns a long recording: the one of the wild if it is there, else one from the test
// writer.
func longFile(b *testing.B) []byte {
	file, err := os.ReadFile(shared + "run-long.hcrp")
	if err != nil {
		g := &generator{rand.New(rand.NewPCG(1, 1)), hosts(b)[0].schema}
		file = g.recording(Published, 4, 500, 100).file(b)
	}
	return file
}

// longRecording returns what longFile does, opened.
func longRecording(b *testing.B) *Reader {
	r, err := readerOf(b.Context(), longFile(b))
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// BenchmarkLines renders all of lines/; its throughput is in bytes of JSON.
func BenchmarkLines(b *testing.B) {
	r := longRecording(b)
	schema := hosts(b)[0].schema
	n := 0
	for b.Loop() {
		n = 0
		for i := range r.Chunks() {
			body, err := r.Body(b.Context(), i)
			if err != nil {
				b.Fatal(err)
			}
			n += len(eventFormat{r.Header.Layout, schema, r.limits}.decode(i, r.Entry(i), body).Lines())
		}
	}
	b.SetBytes(int64(n))
}

// BenchmarkBodies decompresses all bodies, in turns with the library alone on the same frames, and
// reports how many bytes of bodies a second of processor time gives both.
func BenchmarkBodies(b *testing.B) {
	r := longRecording(b)
	frames := storedFrames(b, r)
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	defer dec.Close()
	var bodies, floor time.Duration
	n := 0
	for b.Loop() {
		start := formatstest.CPU()
		for _, f := range frames {
			if _, err := dec.DecodeAll(f, nil); err != nil {
				b.Fatal(err)
			}
		}
		between := formatstest.CPU()
		n = 0
		for i := range r.Chunks() {
			body, err := r.Body(b.Context(), i)
			if err != nil {
				b.Fatal(err)
			}
			n += len(body)
		}
		floor, bodies = floor+between-start, bodies+formatstest.CPU()-between
	}
	rate := func(t time.Duration) float64 { return float64(n) * float64(b.N) / 1e6 / t.Seconds() }
	b.ReportMetric(rate(bodies), "MB/cpu-s")
	b.ReportMetric(rate(floor), "floor-MB/cpu-s")
}

// storedFrames returns the stored bytes of all chunks.
func storedFrames(b *testing.B, r *Reader) (frames [][]byte) {
	for i := range r.Chunks() {
		p := r.place(i)
		f := make([]byte, r.Entry(i).Stored)
		if err := readFull(b.Context(), r.at(p), f, p.offset); err != nil {
			b.Fatal(err)
		}
		frames = append(frames, f)
	}
	return frames
}

// BenchmarkIndex makes the index of a recording.
func BenchmarkIndex(b *testing.B) {
	r := longRecording(b)
	rec := withSchema(r, hosts(b)[0].schema)
	for b.Loop() {
		s, err := newIndexer(rec).run(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(s.Append(nil))), "index-bytes")
	}
}

// BenchmarkState plays to the middle of a chunk.
func BenchmarkState(b *testing.B) {
	r := longRecording(b)
	rec := withSchema(r, hosts(b)[0].schema)
	s, err := newIndexer(rec).run(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	t := &playback{layout: r.Header.Layout, index: s, decode: rec.decode}
	for b.Loop() {
		if _, err := t.state(b.Context(), r.Entry(r.Chunks()/2).Start+50); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkColdTick opens a recording and reads one tick in its middle. It reports how many bytes
// beyond preamble and chunk were read for that.
func BenchmarkColdTick(b *testing.B) {
	r := longRecording(b)
	i := r.Chunks() / 2
	c := testCache(b, nil)
	format := New(Options{})
	name := fmt.Sprintf("ticks/%d.json", r.Entry(i).Start)
	for b.Loop() {
		counter := &nodestest.Counted{ReaderAt: r.file}
		src := formats.Input{ReaderAt: counter, Name: "a.hcrp", Size: r.size, Stored: r.size, ModTime: testTime}
		dir, err := formatstest.Open(b.Context(), format, src, c)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := read(b, dir, name); err != nil {
			b.Fatal(err)
		}
		need := max(r.Header.IndexEnd(), min(r.size, firstRead)) + r.Entry(i).Stored
		b.ReportMetric(float64(counter.Bytes.Load()-need), "extra-bytes")
	}
}

// BenchmarkArchive lists a directory of 20,000 small recordings.
func BenchmarkArchive(b *testing.B) {
	const files = 20000
	g := &generator{rand.New(rand.NewPCG(1, 1)), hosts(b)[0].schema}
	content := g.recording(Published, 4, 1, 10).file(b)
	dir := b.TempDir()
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.hcrp", i)), content, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		archive := archive.New(formatstest.FromFS(os.DirFS(dir)), []formats.Format{New(Options{})}, testCache(b, nil), archive.Options{})
		start := time.Now()
		if n, err := archive.Len(b.Context()); n != files || err != nil {
			b.Fatal(n, err)
		}
		b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "cold-ms")
		start = time.Now()
		if _, err := archive.Len(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "again-ms")
	}
}

// BenchmarkSizes asks for the sizes of all ticks or states in order, as ls -l does, in nanoseconds
// a file.
func BenchmarkSizes(b *testing.B) {
	long := longFile(b)
	for series, dir := range map[string]func(*recording) *views.Documents[index]{"ticks": (*recording).ticks, "states": (*recording).states} {
		b.Run(series, func(b *testing.B) {
			n := 0
			for b.Loop() {
				b.StopTimer()
				rec, x := openedRecording(b, long, hosts(b)[0].schema)
				if _, err := rec.Index(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				files := rec.Documents(series, dir(rec))
				n = int(x.ticks.count())
				for i := range n {
					if e, err := files.At(b.Context(), i); err != nil {
						b.Fatal(err)
					} else if _, err := e.File.Size(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/file")
		})
	}
}
