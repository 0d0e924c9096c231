package echo

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes/nodestest"
)

func scanned(t *testing.T, b []byte) *Index {
	t.Helper()
	r := openBytes(t, b)
	x, err := r.Scan(t.Context(), r.size, nil)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func codes(x *Index) string {
	var list []string
	for _, p := range x.Problems {
		list = append(list, p.Code)
	}
	return strings.Join(list, " ")
}

// TestLostChunk holds what is known after a lost chunk to docs/tree/butter.md section 3: numbers go
// on, bones come back with a known base, pause timers start from 0.
func TestLostChunk(t *testing.T) {
	m := newMatch(arena, 4, true)
	w := newWriter(layoutV3, 2, m.table)
	w.interval = 10
	var frames []*Frame
	for i := range 50 {
		f := m.next()
		if i >= 5 {
			f.Pause.State, f.Pause.PausedTimer = "paused", float32(i)
		}
		if i == 37 {
			f.Bones = nil
		}
		frames = append(frames, f)
		w.add(f)
	}
	b := w.file()
	r := openBytes(t, b)
	b[r.Header.Chunks[1].Offset] = 0
	x := scanned(t, b)
	if got := codes(x); got != "frame_damaged bones_unknown bones_unknown" {
		t.Errorf("problems %s", got)
	}
	if x.Ticks != 40 || x.Chunks[2].FirstTick != 20 || x.BonesTicks != 10+2+10 {
		t.Errorf("%d frames, chunk 2 from %d, %d with bones", x.Ticks, x.Chunks[2].FirstTick, x.BonesTicks)
	}
	if !strings.Contains(x.Problems[2].Message, "30 to 36") {
		t.Errorf("message %q", x.Problems[2].Message)
	}
	encoder := NewEncoder(r.Match())
	for n, want := range []float32{frames[9].Pause.PausedTimer, 0, 10, 20, 30} {
		c, _, err := openBytes(t, b).Chunk(t.Context(), x, n, 0, nil, encoder)
		if err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			continue
		}
		if got := c.Frames[9].Pause.PausedTimer; got < want-0.1 || got > want+0.1 {
			t.Errorf("chunk %d ends with a timer of %v, want %v", n, got, want)
		}
	}
}

// TestLostChunkWithoutBones leaves out no bones in the layout that has none.
func TestLostChunkWithoutBones(t *testing.T) {
	m := newMatch(arena, 4, false)
	w := newWriter(layoutDec2021, 2, m.table)
	w.interval = 10
	for range 30 {
		w.add(m.next())
	}
	b := w.file()
	b[openBytes(t, b).Header.Chunks[1].Offset] = 0
	if got := codes(scanned(t, b)); got != "frame_damaged" {
		t.Errorf("problems %s", got)
	}
}

// TestMapChange reads a chunk of another kind of map than the header's.
func TestMapChange(t *testing.T) {
	a, b := newMatch(arena, 3, false), newMatch(combat, 3, false)
	wa, wb := newWriter(layoutV3, 2, a.table), newWriter(layoutV3, 5, b.table)
	for range 30 {
		wa.add(a.next())
		wb.add(b.next())
	}
	wb.flush()
	wa.flush()
	wa.chunks = append(wa.chunks, wb.chunks...)
	x := scanned(t, wa.file())
	if x.Ticks != 60 || len(x.Problems) != 0 {
		t.Errorf("%d frames, problems %s", x.Ticks, codes(x))
	}
}

func TestCounts(t *testing.T) {
	frames := func(n int) []byte {
		m := newMatch(arena, 2, false)
		w := newWriter(layoutV3, 2, m.table)
		w.interval = 1000
		for range n {
			w.add(m.next())
		}
		return w.b
	}
	m := newMatch(arena, 2, false)
	for _, c := range []struct {
		counts  []int
		ticks   int64
		problem string
	}{
		{[]int{5, 5}, 10, ""},
		{[]int{5, 3}, 8, ""},
		{[]int{3, 5}, 8, "frame_count"},
		{[]int{7, 5}, 10, "frame_count"},
		{[]int{5, 6}, 10, "frame_count"},
	} {
		w := newWriter(layoutV3, 2, m.table)
		w.interval = 5
		for _, n := range c.counts {
			w.chunks = append(w.chunks, frames(n))
		}
		x := scanned(t, w.file())
		if x.Ticks != c.ticks || codes(x) != c.problem {
			t.Errorf("%d: %d frames, problems %q, want %d, %q", c.counts, x.Ticks, codes(x), c.ticks, c.problem)
		}
	}
}

// TestEmptyEntries skips entries of size 0 in the chunk table.
func TestEmptyEntries(t *testing.T) {
	m := newMatch(arena, 2, false)
	w := newWriter(layoutV3, 2, m.table)
	w.interval = 5
	for range 10 {
		w.add(m.next())
	}
	w.flush()
	w.chunks = slices.Insert(w.chunks, 1, []byte{}, []byte{})
	b := w.file()
	x := scanned(t, b)
	if x.Ticks != 10 || len(x.Chunks) != 2 || x.Chunks[1].FirstTick != 5 || len(x.Problems) != 0 {
		t.Errorf("%d frames in %d chunks, problems %s", x.Ticks, len(x.Chunks), codes(x))
	}
	if h := openBytes(t, b).Header; h.Entries != 4 {
		t.Errorf("%d entries, want 4", h.Entries)
	}
}

// TestCombatScore gives a match with goals a combat map: its session has no last score, so there
// are no goals.
func TestCombatScore(t *testing.T) {
	b, _ := sample(layoutV1, 2, 2, 160, false, nil)
	goals := func() int { return strings.Count(eventLines(scanned(t, b).Events), `"event":"goal"`) }
	if n := goals(); n != 1 {
		t.Fatalf("%d goals", n)
	}
	h := openBytes(t, b).Header
	b[int(h.Size)-4*h.Entries-5] = 5 << 1
	if n := goals(); n != 0 {
		t.Errorf("%d goals on a combat map", n)
	}
}

func TestDoesNotOpen(t *testing.T) {
	b, _ := sample(layoutV3, 2, 2, 4, false, nil)
	change := func(at int, with ...byte) []byte {
		x := bytes.Clone(b)
		copy(x[at:], with)
		return x
	}
	header := int(openBytes(t, b).Header.Size)
	for what, x := range map[string][]byte{
		"empty": nil, "version 0": change(0, 0), "version 4": change(0, 4), "interval 0": change(1, 0, 0),
		"cut table": b[:header-1], "endless name": append(bytes.Clone(b[:4]), bytes.Repeat([]byte{'A'}, 2000)...),
		"too many chunks": change(header-8, 0xff, 0xff, 0xff, 0xff), "table beyond the end": change(header-8, 0xff, 0xff, 0x3c, 0),
	} {
		if _, err := newButterReader(t.Context(), formats.BytesReader(x), int64(len(x)), 0); err == nil {
			t.Errorf("%s: it opens", what)
		}
	}
}

// readParts returns the frames of a chunk, which are read part by part, and the most that one of
// those keeps.
func readParts(ctx context.Context, r *butterReader, x *Index, n int) (all []Frame, most int64, err error) {
	for len(all) < x.Chunks[n].Ticks {
		c, cost, err := r.Chunk(ctx, x, n, len(all), nil, NewEncoder(r.Match()))
		if err != nil || len(c.Frames) == 0 || c.FirstTick != x.Chunks[n].FirstTick+int64(len(all)) {
			return nil, 0, fmt.Errorf("part at %d: %w", len(all), err)
		}
		all, most = append(all, c.Frames...), max(most, cost)
	}
	return all, most, nil
}

// A chunk that is larger than real ones are gives the same frames as it is streamed; they are read
// part by part, and counted.
func TestLargeChunk(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and long under the race detector")
	}
	for name, compression := range map[string]byte{"gzip": gzipped, "zstd": zstdLast, "stored": stored} {
		b, _ := sample(layoutV3, 2, 8, 2500, true, func(w *writer) { w.interval, w.compression = 2500, compression })
		r, small := openBytes(t, b), scanned(t, b)
		text, _, err := r.chunkText(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		size, most := text.size, int64(0)
		var got []Frame
		c := cache.New(64<<20, nil)
		err = c.Do(t.Context(), 1, func(ctx context.Context) (err error) {
			got, most, err = readParts(ctx, r, small, 0)
			return err
		})
		_, peak := c.Work()
		c.Close()
		if err != nil || size <= smallChunk || most > partFrames+1<<20 || peak < most-freeFrames-frameStep || peak > partFrames+8<<20+4*maxFrame {
			t.Errorf("%s: %d bytes counted for parts of up to %d, %v", name, peak, most, err)
		}
		held, err := shown(t, r)
		if err != nil || int64(len(held)) != size {
			t.Fatal(name, len(held), size, err)
		}
		var want []Frame
		for d := newDecoder(r.Layout, arena, r.Header, held, nil, carry{}); d.Len() > 0; {
			f, err := d.decode(len(want) == 0)
			if err != nil {
				t.Fatal(name, len(want), err)
			}
			want = append(want, f)
		}
		if parts := len(small.Chunks[0].Parts); parts < 3 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d frames come in %d parts of a stream, %d at once", name, len(got), parts, len(want))
		}
	}
}

// shown returns the bytes of chunk 0 from what is shown of it, read backwards by pieces.
func shown(t *testing.T, r *butterReader) ([]byte, error) {
	x, _, err := r.chunkText(t.Context(), 0)
	if err != nil {
		return nil, err
	}
	c := x.content()
	b := make([]byte, c.Size())
	const piece = 100 << 10
	for end := len(b); end > 0; end -= piece {
		start := max(0, end-piece)
		if n, err := c.ReadAt(t.Context(), b[start:end], int64(start)); n < end-start {
			return nil, err
		}
	}
	return b, nil
}

// A chunk that gives far more than its frames takes no memory for that, however it ends.
func TestBombChunk(t *testing.T) {
	nodestest.Long(t)
	const zeros = 30 << 20
	for name, compression := range map[string]byte{"gzip": gzipped, "zstd": zstdLast, "stored": stored} {
		for _, cut := range []bool{false, true} {
			b, frames := sample(layoutV3, 2, 8, 20, true, func(w *writer) {
				w.interval, w.compression = 20, stored
			})
			plain := openBytes(t, b)
			text, _, err := plain.chunkText(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			w := newWriter(layoutV3, 2, plain.Header.Players)
			w.interval, w.compression = 20, compression
			packed := pack(compression, append(bytes.Clone(text.held), make([]byte, zeros)...))
			if cut {
				packed = packed[:len(packed)-5]
			}
			w.chunks = [][]byte{packed}
			b = w.file()
			c := cache.New(32<<20, nil)
			err = c.Do(t.Context(), 1, func(ctx context.Context) error {
				r, err := newButterReader(ctx, formats.BytesReader(b), int64(len(b)), 0)
				if err != nil {
					return err
				}
				x, err := r.Scan(ctx, r.size, nil)
				if err != nil {
					return err
				}
				size := text.size + zeros
				switch {
				case cut && compression == stored:
					size -= 5
				case cut:
					size = Unreadable
				}
				if x.Chunks[0].Size != size || x.Ticks != int64(len(frames)) || len(x.Problems) != 1 {
					t.Errorf("%s, cut: %t: %d bytes, want %d; %d frames, problems %s", name, cut, x.Chunks[0].Size, size, x.Ticks, codes(x))
				}
				return nil
			})
			_, peak := c.Work()
			c.Close()
			if err != nil || peak > mostWindow/4 {
				t.Errorf("%s: %d bytes counted, %v", name, peak, err)
			}
		}
	}
}

// Each frame of a large chunk may ask for a larger window than the one before it, up to the largest
// that is known.
func TestLargeChunkOfWindows(t *testing.T) {
	nodestest.Long(t)
	b, frames := sample(layoutV3, 2, 8, 2000, false, func(w *writer) { w.interval, w.compression = 2000, stored })
	plain := openBytes(t, b)
	text, err := shown(t, plain)
	if err != nil {
		t.Fatal(err)
	}
	for window, problems := range map[int]string{2 * leastWindow: "", mostWindow: "", 2 * mostWindow: codeChunk} {
		half := len(text) / 2
		packed := bytes.NewBuffer(pack(zstdLast, text[:half]))
		z, err := zstd.NewWriter(packed, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = z.Write(text[half:])
		_ = z.Flush() // so that it does not know how little that is, and asks for all of the window
		_ = z.Close()
		w := newWriter(layoutV3, 2, plain.Header.Players)
		w.interval, w.compression = 2000, zstdLast
		w.chunks = [][]byte{packed.Bytes()}
		x := scanned(t, w.file())
		if whole := x.Ticks == int64(len(frames)); codes(x) != problems || whole != (problems == "") {
			t.Errorf("a window of %d: problems %s, %d frames of %d", window, codes(x), x.Ticks, len(frames))
		}
	}
}

// A chunk that is larger than real ones are and cannot be decompressed at all has no frames, and is
// no failed read.
func TestLargeChunkOfNothing(t *testing.T) {
	for _, compression := range []byte{gzipped, zstdLast} {
		w := newWriter(layoutV3, 2, nil)
		w.compression = compression
		w.chunks = [][]byte{make([]byte, 2*smallChunk)}
		x := scanned(t, w.file())
		if got := codes(x); got != codeChunk || x.Ticks != 0 || x.Chunks[0].Size != Unreadable {
			t.Errorf("%d: problems %s, %d frames", compression, got, x.Ticks)
		}
	}
}

// TestManyChunks lists problems of many chunks up to a limit, and refuses more chunks than a file
// of any use has before anything is allocated for them.
func TestManyChunks(t *testing.T) {
	nodestest.Long(t)
	of := func(chunks int) []byte {
		w := newWriter(layoutV3, 0, nil)
		for range chunks {
			w.chunks = append(w.chunks, []byte{0xff})
		}
		return w.file()
	}
	x := scanned(t, of(2*maxProblems))
	last := x.Problems[len(x.Problems)-1]
	if len(x.Problems) != maxProblems || len(x.Chunks) != 2*maxProblems || !strings.HasSuffix(last.Message, "(more are not listed)") {
		t.Errorf("%d problems of %d chunks, the last is %q", len(x.Problems), len(x.Chunks), last.Message)
	}
	if x = scanned(t, of(maxProblems)); strings.HasSuffix(x.Problems[maxProblems-1].Message, "listed)") {
		t.Error("as many problems as are listed are said to be more")
	}
	b := of(maxChunks + 1)
	_, err := newButterReader(t.Context(), formats.BytesReader(b), int64(len(b)), 0)
	if err == nil || !strings.Contains(err.Error(), "524289 chunks are more than a file can have") {
		t.Errorf("a file of too many chunks: %v", err)
	}
}

// An hour of one frame a chunk opens, and its table is charged.
func TestAFrameAChunk(t *testing.T) {
	const hour = 60 * 60 * 60
	w := newWriter(layoutV3, 2, nil)
	w.interval, w.chunks = 1, make([][]byte, hour)
	for i := range w.chunks {
		w.chunks[i] = []byte{0xff}
	}
	b := w.file()
	c := cache.New(256<<20, nil)
	defer c.Close()
	err := c.Do(t.Context(), 1, func(ctx context.Context) error {
		r, err := newButterReader(ctx, formats.BytesReader(b), int64(len(b)), 0)
		if err == nil && len(r.Header.Chunks) != hour {
			t.Errorf("%d chunks", len(r.Header.Chunks))
		}
		return err
	})
	if _, peak := c.Work(); err != nil || peak < 5*4*hour {
		t.Errorf("%d bytes counted, %v", peak, err)
	}
}

// A chunk of one frame takes what the frame does, not what many would.
func TestMemoryOfAFrame(t *testing.T) {
	b, _ := sample(layoutV3, 2, 8, 2, true, func(w *writer) { w.interval = 1 })
	r, err := newButterReader(t.Context(), formats.BytesReader(b), int64(len(b)), 0)
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := r.chunkText(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	const times = 100
	var before, after runtime.MemStats
	frame := int64(0)
	runtime.ReadMemStats(&before)
	for range times {
		c, err := r.decode(t.Context(), 0, text, true, carry{}, 0)
		if err != nil || len(c.frames) != 1 {
			t.Fatalf("%d frames, %v", len(c.frames), err)
		}
		frame = sizeOf(&c.frames[0])
	}
	runtime.ReadMemStats(&after)
	if each := int64(after.TotalAlloc-before.TotalAlloc) / times; each > 4*frame {
		t.Errorf("%d bytes are allocated for a frame of %d", each, frame)
	}
}

// Times outside the years 1 to 9999, of which the stored 64 bits have many, are told nowhere.
func TestButterYears(t *testing.T) {
	for _, first := range []int64{-62135596800001, 253402300800000, math.MaxInt64 - 40, math.MinInt64} {
		m := newMatch(arena, 2, false)
		w := newWriter(layoutV3, 2, m.table)
		m.f.Time = first - 33
		w.add(m.next())
		w.add(m.next())
		b := w.file()
		dir := openBroken(t, b)
		if bad := nodestest.Check(t, dir); len(bad) > 0 {
			t.Errorf("%d: unreadable: %v", first, bad)
		}
		for name, want := range map[string]string{
			"lines/000000.jsonl": `{"tick":0,"chunk":0,"time":null,`, "events.jsonl": `{"tick":0,"time":null,"event":"status"`,
			"index.json": `"first_time": null`, "export/x.echoreplay.txt": "-\t{",
		} {
			if got := nodestest.Read(t, dir, name); !strings.Contains(got, want) {
				t.Errorf("%d: %s does not have %s:\n%.300s", first, name, want, got)
			}
		}
	}
}
