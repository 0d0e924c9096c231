package datafile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// realMaps returns the larger real maps by name, if they are there.
func realMaps(t *testing.T) map[string][]byte {
	t.Helper()
	files, _ := filepath.Glob(sharedMaps + "/*.map")
	if len(files) == 0 {
		t.Skip("no real maps in a folder shared next to the repository")
	}
	maps := map[string][]byte{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		maps[filepath.Base(file)] = b
	}
	return maps
}

// ownMaps returns the maps of this repository.
func ownMaps(t testing.TB) map[string][]byte {
	t.Helper()
	maps := map[string][]byte{"small": smallMap().bytes(), "sample": sample{level: newLevel}.write()}
	files, err := filepath.Glob(testdata + "/broken/*.map")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		maps[filepath.Base(file)] = b
	}
	return maps
}

// hang is how much processor time reading all of a small damaged map may take.
const hang = 10 * time.Second

// walkDamaged opens a damaged map and reads everything of it. It is held to all promises of a tree,
// to a time, and to memory that the file justifies.
func walkDamaged(t *testing.T, c *cache.Cache, b []byte, what string, args ...any) {
	t.Helper()
	start := formatstest.CPU()
	var root nodes.Dir
	var err error
	spent := allocated(func() {
		root, err = formatstest.Open(t.Context(), New(Options{MaxData: 1 << 20}), formatstest.BytesInput("test.map", b, testTime), c)
		if err == nil {
			nodestest.Check(t, root)
		}
	})
	var e *formats.Error
	if err != nil && !errors.As(err, &e) {
		t.Errorf(what+": %v is no *formats.Error", append(args, err)...)
	}
	if d := formatstest.CPU() - start; d > hang {
		t.Errorf(what+": takes %v", append(args, d)...)
	}
	if limit := uint64(64<<20 + 2000*len(b)); spent > limit {
		t.Errorf(what+": allocates %d bytes", append(args, spent)...)
	}
	if t.Failed() {
		t.FailNow()
	}
}

// TestCutEverywhere cuts the small map at every length before the data part, where it does not
// open, and at many after it.
func TestCutEverywhere(t *testing.T) {
	b, c := ownMaps(t)["ok_tiny.map"], formatstest.NewCache(t)
	data := int(mustRead(t, b).Header.dataAt())
	for n := range nodestest.Places(len(b), 17) {
		if n < data || n%7 == 0 {
			walkDamaged(t, c, b[:n], "cut at %d", n)
		}
	}
}

// TestFlips flips three bytes of every int of header and tables of the small map, a byte of some of
// its items, and some of its data.
func TestFlips(t *testing.T) {
	b, c := ownMaps(t)["ok_tiny.map"], formatstest.NewCache(t)
	h := &mustRead(t, b).Header
	for at := 0; at < len(b); at++ {
		switch n := int64(at); {
		case testing.Short() && n%41 != 0:
			continue
		case n >= h.dataAt() && n%61 != 0:
			continue
		case n < h.itemsAt() && n%4 == 2: // as far out of the file as the byte behind it
			continue
		case n >= h.itemsAt() && n < h.dataAt() && (n%4 != n/4%4 || n/4%5 != 0): // a byte of each fifth number
			continue
		}
		bits := []byte{0x01, 0x80, 0xff}[at%3]
		b[at] ^= bits
		walkDamaged(t, c, b, "flip %#x at %d", bits, at)
		b[at] ^= bits
	}
}

// TestCutReal cuts real maps at many lengths: data before the cut is right, data after it fails.
func TestCutReal(t *testing.T) {
	for name, b := range realMaps(t) {
		whole := mustRead(t, b)
		step := max(1, len(b)/300)
		for n := 0; n < len(b); n += step {
			r, err := NewReader(t.Context(), readerFunc(func(p []byte, off int64) (int, error) {
				return copy(p, b[min(off, int64(n)):n]), nil
			}), int64(n))
			if opens := int64(n) >= whole.Header.dataAt(); opens != (err == nil) {
				t.Fatalf("%s cut at %d: %v", name, n, err)
			}
			if err != nil {
				continue
			}
			for i, d := range r.Data {
				if d.Size > 1<<16 {
					continue
				}
				_, err := r.ReadData(t.Context(), i)
				if there := d.Offset+d.Stored <= int64(n); there != (err == nil) {
					t.Fatalf("%s cut at %d: data %d: %v", name, n, i, err)
				}
			}
		}
	}
}

// TestWideGroups lets many groups claim all of many layers.
func TestWideGroups(t *testing.T) {
	const many = 1 << 15
	w := &mapWriter{}
	for i := range uint16(many) {
		w.items = append(w.items,
			writtenItem{typeGroup, i, []int32{1, 0, 0, 0, 0, 0, many}},
			writtenItem{typeLayer, i, []int32{0, 99, 0}})
	}
	b := w.bytes()
	start := formatstest.CPU()
	m := mustRead(t, b).Map()
	if d := formatstest.CPU() - start; d > hang {
		t.Errorf("takes %v", d)
	}
	if m.Groups[0].OutOfRange || !m.Groups[1].OutOfRange || m.Layers[many-1].Group != 0 {
		t.Error("the layers are not the first group's")
	}
}

// TestHugeRuns announces far more tiles than there are run lengths.
func TestHugeRuns(t *testing.T) {
	w := &mapWriter{}
	w.item(typeLayer, ints(0, layerTiles, 0, 4, 30000, 30000, 1, 255, 255, 255, 255, -1, 0, -1, w.content([]byte{1, 0, 255, 0}))...)
	root, err := openTree(t, w.bytes(), Options{MaxData: 1 << 32})
	if err != nil {
		t.Fatal(err)
	}
	spent := allocated(func() {
		for p, err := range nodestest.Check(t, root) {
			if !isFault(err) {
				t.Errorf("%s: %v", p, err)
			}
		}
	})
	if spent > 8<<20 {
		t.Errorf("%d bytes allocated", spent)
	}
}

// FuzzTree reads everything of a tree of any bytes.
func FuzzTree(f *testing.F) {
	nodestest.Long(f)
	for _, b := range ownMaps(f) {
		if len(b) < 1<<16 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		root, err := openTree(t, b, Options{MaxData: 1 << 18})
		if err != nil {
			return
		}
		bad := nodestest.Check(t, root)
		var index struct{ Problems []formats.Problem }
		if err := json.Unmarshal(readFile(t, root, "index.json"), &index); err != nil {
			t.Fatal(err)
		}
		if len(bad) > 0 && len(index.Problems) == 0 {
			t.Errorf("%d files fail, index.json has no problem: %v", len(bad), bad)
		}
		for _, p := range index.Problems {
			if _, err := nodes.Lookup(t.Context(), root, p.Path); p.Path != "" && err != nil {
				t.Errorf("problem %v: %v", p, err)
			}
		}
	})
}

// FuzzItems puts any ints into the items of a map whose container is sound.
func FuzzItems(f *testing.F) {
	tiny := ownMaps(f)["ok_tiny.map"]
	r := mustRead(f, tiny)
	for i, it := range r.Items {
		f.Add(it.Type, r.ItemData(i))
	}
	f.Fuzz(func(t *testing.T, typ uint16, item []byte) {
		w := &mapWriter{}
		w.text("name")
		w.content(make([]byte, 400))
		w.item(typeVersion, 1)
		w.item(typeGroup, 1, 0, 0, 100, 100, 0, 1)
		w.item(typ, toInts(item)...)
		root, err := openTree(t, w.bytes(), Options{MaxData: 1 << 18})
		if err != nil {
			t.Fatal(err)
		}
		for p, err := range nodestest.Check(t, root) {
			if !isFault(err) {
				t.Errorf("%s: %v", p, err)
			}
		}
	})
}

// FuzzStream inflates any bytes, at any announced size.
func FuzzStream(f *testing.F) {
	f.Add(deflate([]byte("tee")), int32(3))
	f.Add([]byte("not zlib"), int32(1<<20))
	f.Fuzz(func(t *testing.T, stored []byte, size int32) {
		if size < 0 || size > 1<<20 {
			return
		}
		r := dataReader(t, stored, size)
		b, err := r.ReadData(t.Context(), 0)
		_, checked := r.CheckData(t.Context(), 0, io.Discard)
		if (err == nil) != (checked == nil) || err == nil && len(b) != int(size) {
			t.Errorf("%d bytes of %d, %v, %v", len(b), size, err, checked)
		}
		if err != nil && !isFault(err) {
			t.Error(err)
		}
	})
}

// TestConcurrentReaders reads one tree from many sides at once.
func TestConcurrentReaders(t *testing.T) {
	root, err := openTree(t, sample{level: oldLevel}.write(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	for range 4 * runtime.GOMAXPROCS(0) {
		go func() {
			done <- len(nodestest.Check(t, root)) == 0
		}()
	}
	for range 4 * runtime.GOMAXPROCS(0) {
		if !<-done {
			t.Error("files fail")
		}
	}
}

// TestByteOrder is what a big-endian writer's file looks like under the other magic: the same
// bytes.
func TestByteOrder(t *testing.T) {
	w := smallMap()
	w.magic = "ATAD"
	b := w.bytes()
	if got := mustRead(t, b).Header; got.Magic != "ATAD" || got.NumItems != 5 || binary.LittleEndian.Uint32(b[20:]) != 5 {
		t.Errorf("header %+v", got)
	}
}

// TestOneItemManyUses refers to one large data item from everywhere.
func TestOneItemManyUses(t *testing.T) {
	w := &mapWriter{}
	big := w.content(bytes.Repeat([]byte{7, 26, 0, 3}, 2<<20))
	const many = 200
	w.item(typeInfo, 1, big, big, big, big, -1)
	for range many {
		w.item(typeImage, 1, 1, 1, 0, big, big)
		w.item(typeSound, 1, 0, big, big, 0)
		w.item(typeLayer, ints(0, layerTiles, 0, 2, 3000, 3000, 2, 255, 255, 255, 255, -1, 0, -1, big, big)...)
		w.item(typeLayer, ints(0, layerTiles, 0, 4, 2048, 1024, 0, 255, 255, 255, 255, -1, 0, -1, big)...)
	}
	root, err := openTree(t, w.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	start := formatstest.CPU()
	spent := allocated(func() {
		for _, name := range []string{"index.json", "map.json", "images", "sounds", "layers"} {
			e, err := nodes.Lookup(t.Context(), root, name)
			if err != nil {
				t.Fatal(err)
			}
			if e.File != nil {
				_, err = nodes.ReadAll(t.Context(), e.File)
			} else {
				_, err = e.Dir.Len(t.Context())
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	if d := formatstest.CPU() - start; d > hang || spent > 64<<20 {
		t.Errorf("takes %v and %d bytes", d, spent)
	}
	codes := problemCodes(t, root)
	if !slices.Contains(codes, "layer_size") && !slices.Contains(codes, "tiles_size") {
		t.Errorf("problems %v", slices.Compact(codes))
	}
}

// TestLongDocuments reads documents of layers that are longer than any of a game, in little memory.
func TestLongDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("inflates much")
	}
	const side, quads = 1500, 150_000
	w := &mapWriter{}
	w.item(typeVersion, 1)
	w.tileLayer("Tele", side, side, 2, -1, bytes.Repeat([]byte{1, 26}, side*side))
	w.item(typeLayer, ints(0, layerQuads, 0, 2, quads, w.content(make([]byte, quads*quadSize)), -1, textInts("Quads", 3))...)
	c := cache.New(1<<20, nil)
	defer c.Close()
	root, err := openMap(t.Context(), w.bytes(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got := problemCodes(t, root); got != nil {
		t.Errorf("problems %v", got)
	}
	for name, elements := range map[string]int{"layers/xx-00-tele-Tele.json": side * side, "layers/xx-01-quads-Quads.json": quads} {
		e, err := nodes.Lookup(t.Context(), root, name)
		if err != nil {
			t.Fatal(err)
		}
		content, err := e.File.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var lines lineCounter
		n, err := io.Copy(&lines, nodes.Reader(t.Context(), content))
		if err != nil || n != content.Size() || lines.n < elements || lines.n > elements+100 {
			t.Errorf("%s: %d bytes of %d, %d lines, %v", name, n, content.Size(), lines.n, err)
		}
		nodes.CloseContent(content)
	}
	if _, peak := c.Work(); peak > 8<<20 {
		t.Errorf("%d bytes are counted", peak)
	}
}

type lineCounter struct{ n int }

func (c *lineCounter) Write(p []byte) (int, error) {
	c.n += bytes.Count(p, []byte{'\n'})
	return len(p), nil
}
