package echo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("../../testdata/butter/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			nodestest.Golden(t, file, func(b []byte) (nodes.Dir, error) {
				return formatstest.Open(t.Context(), NewButter(Options{}), formatstest.BytesInput("x.butter", b, time.Unix(1e9, 0)), formatstest.NewCache(t))
			}, parquettest.Show)
		})
	}
}

func TestSavedButter(t *testing.T) {
	nodestest.Saved(t, "../../testdata/butter/saved.sums", indexfile.Layout,
		func(b []byte) []byte { return scanned(t, b).Append(openBytes(t, b).Append(nil)) },
		"../../testdata/butter/*.txtar", "../../testdata/archive/butter/*.butter")
}

// openBroken opens a file that may be damaged; nil if it does not open.
func openBroken(t testing.TB, b []byte) nodes.Dir {
	dir, err := formatstest.Open(t.Context(), NewButter(Options{}), formatstest.BytesInput("x.butter", b, time.Unix(1e9, 0)), formatstest.NewCache(t))
	if err != nil {
		return nil
	}
	return dir
}

// TestCuts scans a file that ends after every length, where it is compressed after every fifth, and
// walks the tree for some.
func TestCuts(t *testing.T) {
	for _, compression := range []uint8{stored, gzipped, 3} {
		b, _ := sample(layoutV3, 2, 2, 5, true, func(w *writer) { w.compression, w.interval = compression, 3 })
		frames := int64(-1)
		step := 1
		if compression != stored {
			step = 5
		}
		for n := (len(b) - 1) % step; n < len(b); n += nodestest.Times(step, 29) {
			r, err := newButterReader(t.Context(), formats.BytesReader(b[:n]), int64(n), 0)
			if err != nil {
				if frames >= 0 {
					t.Errorf("%d bytes do not open, fewer did: %v", n, err)
				}
				continue
			}
			x, err := r.Scan(t.Context(), r.size, nil)
			if err != nil || x.Ticks < frames || x.End != "truncated" {
				t.Errorf("%d bytes give %d frames, %v, %s; fewer bytes gave %d", n, x.Ticks, err, x.End, frames)
			}
			frames = x.Ticks
			if n%97 == 0 {
				nodestest.Check(t, openBroken(t, b[:n]))
			}
		}
		want := int64(4)
		if compression > gzipped {
			want = 3 // zstd gives the bytes of a block together
		}
		if frames < want {
			t.Errorf("compression %d: all but the last byte give %d frames of 5", compression, frames)
		}
	}
}

// TestFlips scans a file with one bad byte, at every place, and walks the tree for some.
func TestFlips(t *testing.T) {
	b, _ := sample(layoutV3, 2, 2, 5, true, func(w *writer) { w.interval = 3 })
	for i := range nodestest.Places(len(b), 23) {
		x := bytes.Clone(b)
		x[i] ^= byte(1 << (i % 8))
		r, err := newButterReader(t.Context(), formats.BytesReader(x), int64(len(x)), 0)
		if err != nil {
			continue
		}
		if _, err := r.Scan(t.Context(), r.size, nil); err != nil {
			t.Errorf("byte %d: %v", i, err)
		}
		if i%97 == 0 {
			nodestest.Check(t, openBroken(t, x))
		}
	}
}

// A countingReader notes which bytes were read.
type countingButter struct {
	r        formats.ReaderAt
	min, max int64
}

func (c *countingButter) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	c.min, c.max = min(c.min, off), max(c.max, off+int64(len(p)))
	return c.r.ReadAt(ctx, p, off)
}

// TestReadsOneChunk holds a look at one frame to the bytes of its chunk.
func TestReadsOneChunk(t *testing.T) {
	b, _ := sample(layoutV3, 2, 4, 300, true, func(w *writer) { w.interval = 100 })
	r := openBytes(t, b)
	counted := &countingButter{r: formats.BytesReader(b)}
	src := formatstest.BytesInput("x.butter", b, time.Unix(1e9, 0))
	src.ReaderAt = counted
	c := formatstest.NewCache(t)
	dir, err := formatstest.Open(t.Context(), NewButter(Options{}), src, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nodes.Lookup(t.Context(), dir, "ticks/00000157.json"); err != nil {
		t.Fatal(err)
	}
	counted.min, counted.max = 1<<62, 0
	readFile(t, dir, "ticks/00000157.json")
	if e := r.Header.Chunks[1]; counted.min != e.Offset || counted.max != e.Offset+e.Size {
		t.Errorf("bytes %d to %d were read, the chunk is %d to %d", counted.min, counted.max, e.Offset, e.Offset+e.Size)
	}
}

// TestListsWithoutDecoding holds header.json and the lists of chunks to the header, where the
// layout is not in doubt.
func TestListsWithoutDecoding(t *testing.T) {
	b, _ := sample(layoutV2, 2, 4, 100, false, nil)
	r := openBytes(t, b)
	for i := r.Header.Size; i < int64(len(b)); i++ {
		b[i] = 0xaa
	}
	dir := openBroken(t, b)
	readFile(t, dir, "header.json")
	readFile(t, dir, "metadata")
	for _, name := range []string{"chunks", "lines"} {
		e, err := nodes.Lookup(t.Context(), dir, name)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := e.Dir.Len(t.Context()); n != 4 || err != nil {
			t.Errorf("%s has %d entries, %v, want 4", name, n, err)
		}
	}
}

// TestSavedIndex holds what comes from disk to what the scan made.
func TestSavedButterIndex(t *testing.T) {
	b, _ := sample(layoutV3, 2, 4, 100, true, nil)
	disk := memoryStore{}
	want := map[string]string{}
	for pass := range 2 {
		c := cache.New(64<<20, disk)
		dir := openTree(t, b, c, disk)
		for _, name := range []string{"index.json", "scores.json", "events.jsonl", "ticks/00000099.json", "export/match.echoreplay"} {
			e, err := nodes.Lookup(t.Context(), dir, name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := nodes.ReadAll(t.Context(), e.File)
			if err != nil {
				t.Fatal(err)
			}
			if pass == 0 {
				want[name] = string(got)
			} else if want[name] != string(got) {
				t.Errorf("%s differs when the index comes from disk", name)
			}
		}
		c.Close()
	}
	if len(disk) != 2 { // and the note of it
		t.Errorf("%d things on disk, want an index and a note", len(disk))
	}
	for name := range disk {
		disk[name] = disk[name][:len(disk[name])/2]
	}
	c := cache.New(64<<20, disk)
	defer c.Close()
	readFile(t, openTree(t, b, c, disk), "index.json")
}

// TestBombs opens files whose few bytes ask for much memory.
func TestBombs(t *testing.T) {
	frame := []byte{0xfe, 0xfe, 0, 0, 0, 0, 0, 0, 0, 0}
	for range 3 {
		frame = append(frame, 255)
		frame = append(frame, make([]byte, 255*4)...)
	}
	frame = append(frame, 0)
	key := append(append([]byte{0xfc, 0xfe}, make([]byte, 12)...), frame[8:]...)
	for n := range 3 * 255 { // nobody would have one base for all
		key[17+4*n+n/255] = byte(n)
		frame[11+4*n+n/255] = byte(n)
	}
	chunk := append(key, bytes.Repeat(frame, 4000)...)
	w := newWriter(layoutV2, 5, []TableEntry{{Name: "A"}})
	w.interval = 65535
	w.chunks = [][]byte{pack(gzipped, chunk)}
	w.compression = gzipped
	w.layout = layoutV1
	r := openBytes(t, w.file())
	c, err := decodeChunk(t.Context(), r.Layout, combat, r.Header, &chunkBytes{held: chunk}, carry{}, 0, r.Header.Interval)
	if err != nil {
		t.Fatal(err)
	}
	if c.failed == nil || !strings.Contains(c.failed.Error(), "more than") {
		t.Errorf("%d frames of 765 players: %v", c.count, c.failed)
	}
}

// TestSamples walks the trees of real recordings: those in testdata and, if it is there, in the
// folder shared next to the repository. Only what is missing at the end of a cut file may be
// unreadable.
func TestButterSamples(t *testing.T) {
	files, err := filepath.Glob("../../testdata/archive/butter/*.butter")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	more, err := filepath.Glob("../../../shared/recordings/butter/*.butter")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, more...) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bad := nodestest.Check(t, openBroken(t, b))
		if strings.Contains(file, "-cut") {
			for _, name := range []string{"chunks/000001", "chunks/000002", "lines/000002.jsonl"} {
				if bad[name] == nil {
					t.Errorf("%s: %s can be read", file, name)
				}
				delete(bad, name)
			}
		}
		for name, err := range bad {
			t.Errorf("%s: %s: %v", file, name, err)
		}
	}
}

// FuzzScan holds the chunks that decode by themselves to the pass over the whole file.
func FuzzButterScan(f *testing.F) {
	for _, l := range []*layout{layoutDec2021, layoutV1, layoutV2, layoutV3Early, layoutV3} {
		for _, mapIndex := range []uint8{2, 5} {
			b, _ := sample(l, mapIndex, 2, 3, l.bones, func(w *writer) { w.interval, w.private = 2, true })
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		matchButter(b)
		r, err := newButterReader(t.Context(), formats.BytesReader(b), int64(len(b)), 0)
		if err != nil {
			return
		}
		x, err := r.Scan(t.Context(), r.size, nil)
		if err != nil {
			t.Fatal(err)
		}
		encoder := NewEncoder(r.Match())
		for n := range x.Chunks {
			c, _, err := r.Chunk(t.Context(), x, n, 0, nil, encoder)
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Frames) != x.Chunks[n].Ticks {
				t.Fatalf("chunk %d has %d frames by itself, %d in the pass", n, len(c.Frames), x.Chunks[n].Ticks)
			}
			for i := range c.Frames {
				if tick := c.Tick(i); !json.Valid(tick) {
					t.Fatalf("tick %d of chunk %d: %s", i, n, tick)
				}
			}
			lines := int64(0)
			for _, p := range piecesOf(&x.Chunks[n]) {
				lines += p.Sizes[viewLines.number]
			}
			if got := viewLines.render(c, nil, 0); int64(len(got)) != lines {
				t.Fatalf("the lines of chunk %d have %d bytes, %d in the pass", n, len(got), lines)
			}
		}
		visitAll(t, r, x)
		formatstest.Try(t.Context(), openBroken(t, b))
	})
}

type storeButter map[string][]byte

func (s storeButter) Load(_ context.Context, name string) ([]byte, bool) {
	b, ok := s[name]
	return b, ok
}
func (s storeButter) Save(name string, b []byte) { s[name] = b }
func (s storeButter) Forget(name string)         { delete(s, name) }

// TestSavedIndexOfOtherBytes holds that a file that was damaged but has its size and times is not
// called clean, and that a change of the inode alone keeps the index.
func TestSavedIndexOfOtherBytes(t *testing.T) {
	b, _ := sample(layoutV3, 2, 2, 6, true, func(w *writer) { w.compression, w.interval = 3, 3 })
	damaged := bytes.Clone(b)
	damaged[openBytes(t, b).Header.Chunks[1].Offset+8] ^= 0xff
	disk := storeButter{}
	index := func(b []byte, changed int64, disk storeButter) string {
		src := formatstest.BytesInput("x.butter", b, time.Unix(1e9, 0))
		src.Stamp = formats.Stamp{Size: src.Size, Modified: 1e9, Changed: changed, Born: 1, Inode: 2}
		formatstest.Keep(&src, disk)
		c := cache.New(64<<20, disk)
		defer c.Close()
		dir, err := formatstest.Open(t.Context(), NewButter(Options{}), src, c)
		if err != nil {
			t.Fatal(err)
		}
		e, err := nodes.Lookup(t.Context(), dir, "index.json")
		if err != nil {
			t.Fatal(err)
		}
		doc, err := nodes.ReadAll(t.Context(), e.File)
		if err != nil {
			t.Fatal(err)
		}
		return string(doc)
	}
	sound := index(b, 1, disk)
	old := maps.Clone(disk)
	if got := index(b, 2, disk); got != sound {
		t.Errorf("after a change of the mode:\n%s", got)
	}
	for name, saved := range disk {
		if same := bytes.Equal(saved, old[name]); same == formats.IsNote(name) {
			t.Errorf("after a change of the mode: %s is the same: %t", name, same)
		}
	}
	want := index(damaged, 3, storeButter{})
	if got := index(damaged, 3, disk); got != want || got == sound {
		t.Errorf("of a damaged file:\n%s", got)
	}
}

// TestGrowing lets a recording arrive: what is decoded of a chunk that is cut stays, once it is
// known how.
func TestGrowingButter(t *testing.T) {
	want := []string{"events.jsonl", "export/disc.csv", "export/players.csv", "export/sample.echoreplay.txt"}
	for sample, chunks := range map[string]int{"arena_private_bones_v3_zstd7": 5, "arena_v1_gzip": 3, "arena_v3early_none": 3} {
		b, err := os.ReadFile("../../testdata/archive/butter/" + sample + ".butter")
		if err != nil {
			t.Fatal(err)
		}
		names := slices.Clone(want)
		for n := range chunks {
			names = append(names, fmt.Sprintf("lines/%06d.jsonl", n))
		}
		formatstest.Growing(t, NewButter(Options{}), b, 4000, len(b)/nodestest.Times(19, 5), names...)
	}
}
