package butter

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/echovr"
)

func scanned(t *testing.T, b []byte) *echovr.Index {
	t.Helper()
	x, err := openBytes(t, b).Scan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func codes(x *echovr.Index) string {
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
	var frames []*echovr.Frame
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
	encoder := echovr.NewEncoder(r.Match())
	for n, want := range []float32{frames[9].Pause.PausedTimer, 0, 10, 20, 30} {
		c, _, err := openBytes(t, b).Chunk(t.Context(), n, x.Chunks[n].State, encoder)
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
	goals := func() int { return bytes.Count(scanned(t, b).Events, []byte(`"event":"goal"`)) }
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
		if _, err := NewReader(t.Context(), formats.BytesReader(x), int64(len(x)), 0); err == nil {
			t.Errorf("%s: it opens", what)
		}
	}
}

// A chunk that is larger than real ones are is counted before it is decompressed and decoded.
func TestLargeChunkIsCharged(t *testing.T) {
	for name, compression := range map[string]byte{"gzip": gzipped, "zstd": zstdLast, "stored": stored} {
		b, _ := sample(layoutV3, 2, 8, 4000, false, func(w *writer) { w.interval, w.compression = 4000, compression })
		r := openBytes(t, b)
		c := cache.New(64<<20, nil)
		var size int
		err := c.Do(t.Context(), 1, func(ctx context.Context) error {
			data, _, err := r.chunkBytes(ctx, 0)
			size = len(data)
			return err
		})
		_, peak := c.Work()
		c.Close()
		if err != nil || size <= smallChunk || peak < int64(decodedPerByte*size) {
			t.Errorf("%s: %d bytes counted for a chunk of %d, %v", name, peak, size, err)
		}
	}
}
