package datafile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// wideMap returns a map whose layers, an image and a sound are larger than what a small cache
// holds: of 1024×520 tiles or fewer, plain, in run lengths, and with numbers.
func wideMap(version int32) []byte {
	const w = 1024
	h := nodestest.Times(520, 400)
	random := rand.New(rand.NewPCG(1, 2))
	m := &mapWriter{version: version}
	m.item(typeVersion, 1)
	tiles := make([]byte, 4*w*h)
	for i := 0; i < len(tiles); i += 4 {
		if random.IntN(8) == 0 {
			tiles[i], tiles[i+1] = byte(random.IntN(256)), byte(random.IntN(16))
		}
	}
	pixels := bytes.Repeat([]byte{1, 2, 3, 0xff}, 700*700)
	m.image("opaque", 700, 700, pixels)
	pixels = bytes.Clone(pixels)
	pixels[len(pixels)-1] = 7
	m.image("glass", 700, 700, pixels)
	m.tileLayer("Game", w, h, 1, -1, tiles)
	m.tileLayer("Tiles", w, h, 0, 1, tiles)
	tele := make([]byte, 2*w*h)
	tele[10], tele[11], tele[len(tele)-2], tele[len(tele)-1] = 3, 26, 9, 27
	m.tileLayer("Tele", w, h, 2, -1, tele)
	runs := bytes.Repeat([]byte{5, 8, 255, 0, 0, 0, 255, 0}, w*h/512)
	m.item(typeLayer, ints(0, layerTiles, 0, 4, w, int32(h), 0, []int32{255, 255, 255, 255}, -1, 0,
		0, m.content(runs), textInts("Runs", 3), []int32{-1, -1, -1, -1, -1})...)
	m.group("Group", 100, 0, 4)
	return m.bytes()
}

// contents returns every file of a tree.
func contents(ctx context.Context, root nodes.Dir) (map[string]string, error) {
	all := map[string]string{}
	err := nodes.Walk(ctx, root, func(name string, e nodes.Entry, err error) error {
		if err != nil || e.File == nil {
			return err
		}
		b, err := nodes.ReadAll(ctx, e.File)
		all[name] = string(b)
		if size, sizeErr := e.File.Size(ctx); err == nil && (sizeErr != nil || size != int64(len(b))) {
			err = errors.Join(sizeErr, errors.New(name+" has another size"))
		}
		return err
	})
	return all, err
}

// TestStreamedTree compares the tree of a map in a cache that is too small for its layers with that
// in a large one, for readers at once, and looks at what it takes.
func TestStreamedTree(t *testing.T) {
	nodestest.Long(t)
	for i, version := range []int32{4, 3}[:nodestest.Times(2, 1)] {
		readers := nodestest.Times(4, 2) / (i + 1)
		b := wideMap(version)
		open := func(budget int64) (nodes.Dir, *cache.Cache) {
			c := cache.New(budget, nil)
			t.Cleanup(c.Close)
			root, err := openMap(t.Context(), b, c)
			if err != nil {
				t.Fatal(err)
			}
			return root, c
		}
		large, _ := open(256 << 20)
		want, err := contents(t.Context(), large)
		if err != nil {
			t.Fatal(err)
		}
		small, c := open(1 << 20)
		var wg sync.WaitGroup
		for range readers {
			wg.Go(func() {
				got, err := contents(t.Context(), small)
				if err != nil || len(got) != len(want) {
					t.Errorf("version %d: %d files, want %d: %v", version, len(got), len(want), err)
				}
				for name, text := range want {
					if got[name] != text {
						t.Errorf("version %d: %s differs", version, name)
					}
				}
			})
		}
		wg.Wait()
		_, peak := c.Work()
		// What is kept of large values goes when others need the memory.
		if err := c.Do(t.Context(), 64<<20, func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		// Small requests have 16 MiB of their own; beside them the largest is alone, which is a
		// group of the table tiles: three times its 8 MB.
		if now, _ := c.Work(); now != 0 || peak > 16<<20+24_700_000 {
			t.Errorf("version %d: %d bytes are not given back, %d at most", version, now, peak)
		}
	}
}

// openMap returns the tree of a map.
func openMap(ctx context.Context, b []byte, c *cache.Cache) (nodes.Dir, error) {
	return formatstest.Open(ctx, New(Options{}), formatstest.BytesInput("wide.map", b, time.Unix(1e9, 0)), c)
}

// TestItemStream reads a data item in any order, and one that is damaged up to where it is.
func TestItemStream(t *testing.T) {
	nodestest.Long(t)
	random := rand.New(rand.NewPCG(1, 2))
	content := make([]byte, 3<<20)
	for i := range content {
		content[i] = byte(random.IntN(4))
	}
	stored := deflate(content)
	open := func(stored []byte, size int) *nodes.Forward {
		r := &Reader{&Tables{MaxData: defaultMaxData, size: int64(len(stored))}, formats.BytesReader(stored)}
		r.Header.Version = 4
		r.Data = []Data{{Offset: 0, Stored: int64(len(stored)), Size: int64(size)}}
		return r.stream(0, int64(size), false)
	}
	s := open(stored, len(content))
	for range nodestest.Times(50, 10) {
		off, p := random.IntN(len(content)), make([]byte, random.IntN(200_000))
		n, err := s.ReadAt(t.Context(), p, int64(off))
		want := content[off:min(off+len(p), len(content))]
		if !bytes.Equal(p[:n], want) || (err == io.EOF) != (n < len(p)) || err != nil && err != io.EOF {
			t.Fatalf("at %d: %d bytes of %d, %v", off, n, len(want), err)
		}
	}
	broken := bytes.Clone(stored)
	broken[len(broken)-1] ^= 1 // of the checksum
	for name, s := range map[string]*nodes.Forward{
		"checksum": open(broken, len(content)),
		"cut":      open(stored[:len(stored)/2], len(content)),
		"long":     open(stored, len(content)-1),
		"short":    open(stored, len(content)+1),
	} {
		if n, err := s.ReadAt(t.Context(), make([]byte, 1000), 5000); n != 1000 || err != nil {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		for range 2 {
			if _, err := s.ReadAt(t.Context(), make([]byte, 1000), s.Size()-1000); !isFault(err) {
				t.Errorf("%s: the end reads with %v", name, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.ReadAt(ctx, make([]byte, 10), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the end of the context", err)
	}
}

// TestLongItems shows items that are as long as their tables, and what is made of them, as short
// ones, and counts what that takes.
func TestLongItems(t *testing.T) {
	nodestest.Long(t)
	const n = 600_000
	ints := make([]int32, n)
	for i := range ints {
		ints[i] = math.MinInt32 + int32(i)
	}
	m := &mapWriter{}
	m.item(typeVersion, 1)
	m.item(typeImage, append([]int32{1, 2, 3, 0, -1, -1}, ints...)...)
	m.item(typeEnvPoints, ints[:n-1]...)
	m.item(777, ints...)
	m.item(typeEnvelope, 1, 3, 2, n, -1)
	m.item(typeEnvelope, 1, 3, n, n, -1)
	m.item(typeLayer, append([]int32{0, 77, 0}, ints...)...)
	b := m.bytes()
	r := mustRead(t, b)
	types := []uint16{typeImage, typeEnvPoints, 777, typeLayer}
	files, most := readSmall(t, b, "items/image/00000.json", "items/envpoints/00000.json", "items/777/00000.json",
		"items/layer/00000.json", "layers/xx-00-unknown.json", "envelopes/000.json", "envelopes/001.json")
	for i, typ := range types {
		first, _ := r.ItemsOf(typ)
		if want, err := jsonenc.MarshalIndented(r.describeItem(first)); err != nil || !bytes.Equal(files[i], want) {
			t.Errorf("item of type %d: %d bytes, want %d: %v", typ, len(files[i]), len(want), err)
		}
	}
	type point struct {
		Time   int32   `json:"time_ms"`
		Curve  int32   `json:"curve"`
		Values []int32 `json:"values"`
	}
	var points []point
	for p := range slices.Chunk(ints[12:n-6], 6) {
		points = append(points, point{p[0], p[1], p[2:5]})
	}
	for i, want := range []any{
		object{
			{"index", 0},
			{"id", 0},
			{"group", nil},
			{"layer", nil},
			{"kind", "unknown"},
			{"name", ""},
			{"detail", false},
			{"ints", append([]int32{0, 77, 0}, ints...)},
		},
		object{
			{"index", 0},
			{"id", 0},
			{"item_version", 1},
			{"channels", 3},
			{"start_point", 2},
			{"num_points", n},
			{"name", ""},
			{"synchronized", false},
			{"points", points},
		},
		object{
			{"index", 1},
			{"id", 1},
			{"item_version", 1},
			{"channels", 3},
			{"start_point", n},
			{"num_points", n},
			{"name", ""},
			{"synchronized", false},
			{"points", []point{}},
		},
	} {
		file := files[len(types)+i]
		if want, err := jsonenc.MarshalIndented(want); err != nil || !bytes.Equal(file, want) {
			t.Errorf("document %d: %d bytes, want %d: %v", i, len(file), len(want), err)
		}
	}
	if most > int64(len(b)+1<<20+4<<10) { // to open the map takes as much as it has; sizes of parts are counted, too
		t.Errorf("%d bytes are counted for %d of a map of %d", most, len(files[0]), len(b))
	}
}

// TestRunsAreCharged looks at what the tiles take that a few run lengths stand for.
func TestRunsAreCharged(t *testing.T) {
	const side = 1000
	m := &mapWriter{}
	m.item(typeVersion, 1)
	runs := bytes.Repeat([]byte{1, 0, 249, 0}, side*side/250)
	m.item(typeLayer, ints(0, layerTiles, 0, 4, side, side, 1, []int32{255, 255, 255, 255}, -1, 0,
		-1, m.content(runs), textInts("Game", 3), []int32{-1, -1, -1, -1, -1})...)
	m.group("", 100, 0, 1)
	c := cache.New(64<<20, nil)
	t.Cleanup(c.Close)
	root, err := openMap(t.Context(), m.bytes(), c)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Do(t.Context(), 0, func(ctx context.Context) error {
		e, err := nodes.Lookup(ctx, root, "layers/00-00-game-Game.txt")
		if err == nil {
			_, err = e.File.Open(ctx)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, peak := c.Work(); peak < 4*side*side {
		t.Errorf("%d bytes are counted for %d of tiles", peak, 4*side*side)
	}
}
