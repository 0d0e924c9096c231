package datafile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// TestBroken opens the maps in testdata/datafile/broken. Names that begin with reject do not open;
// the others open, and exactly these files fail and these problems are told.
func TestBroken(t *testing.T) {
	layer7 := []string{"layers/01-06-tiles-Deco.json", "layers/01-06-tiles-Deco.txt"}
	image0 := []string{"images/00-blocks.png"}
	image0data := append([]string{"data/00006"}, image0...)
	cases := map[string]struct{ codes, fail []string }{
		"ok_short_size_fields.map":          {codes: []string{"size_short_by_data_sizes", "swaplen_short_by_data_sizes"}},
		"ok_size_wrong.map":                 {codes: []string{"size_wrong"}},
		"ok_zero_size_data.map":             {codes: []string{"data_size_zero", "string"}},
		"ok_hostile_image_names.map":        {codes: []string{"string", "unsafe_name", "unsafe_name", "unsafe_name"}},
		"part_cut_in_data.map":              {codes: []string{"truncated", "truncated"}, fail: []string{"data/00024", "layers/02-01-old-sounds-Old.json"}},
		"part_data_declared_too_small.map":  {codes: []string{"data_size_mismatch"}, fail: image0data},
		"part_data_declared_too_big.map":    {codes: []string{"data_size_mismatch"}, fail: image0data},
		"part_data_declared_2gib.map":       {codes: []string{"data_too_large"}, fail: image0data},
		"part_bomb_small_declared.map":      {codes: []string{"data_size_mismatch"}, fail: image0data},
		"part_data_not_zlib.map":            {codes: []string{"data_zlib"}, fail: image0data},
		"map_tiles_too_short.map":           {codes: []string{"tiles_size"}, fail: layer7},
		"map_tile_runs_too_long.map":        {codes: []string{"tiles_run_length"}, fail: layer7},
		"map_layer_width_huge.map":          {codes: []string{"tiles_size"}, fail: layer7},
		"map_data_index_out_of_range.map":   {codes: []string{"data_index"}, fail: layer7},
		"map_image_size_lie.map":            {codes: []string{"image_size"}, fail: image0},
		"map_info_string_unterminated.map":  {codes: []string{"string"}},
		"map_group_layers_out_of_range.map": {codes: []string{"group_range"}},
	}
	files, err := filepath.Glob(testdata + "/broken/*.map")
	if err != nil || len(files) == 0 {
		t.Fatal("no broken maps", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			root, err := openTree(t, b, Options{})
			var e *formats.Error
			if strings.HasPrefix(name, "reject_") {
				if !errors.As(err, &e) {
					t.Fatalf("opens with %v, want a *formats.Error", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var failed []string
			for p, err := range nodestest.Check(t, root) {
				failed = append(failed, p)
				if !isFault(err) {
					t.Errorf("%s fails with %v", p, err)
				}
			}
			slices.Sort(failed)
			if want := cases[name].fail; !slices.Equal(failed, want) {
				t.Errorf("these fail: %v, want %v", failed, want)
			}
			if got, want := problemCodes(t, root), cases[name].codes; !slices.Equal(got, want) {
				t.Errorf("problems %v, want %v", got, want)
			}
		})
	}
}

// problemCodes returns the sorted codes of index.json.
func problemCodes(t testing.TB, root nodes.Dir) (codes []string) {
	t.Helper()
	var index struct{ Problems []formats.Problem }
	if err := json.Unmarshal(readFile(t, root, "index.json"), &index); err != nil {
		t.Fatal(err)
	}
	for _, p := range index.Problems {
		codes = append(codes, p.Code)
		if p.Path != "" {
			if _, err := nodes.Lookup(t.Context(), root, p.Path); err != nil {
				t.Errorf("the problem %v has no file: %v", p, err)
			}
		}
	}
	slices.Sort(codes)
	return codes
}

func readFile(t testing.TB, root nodes.Dir, name string) []byte {
	t.Helper()
	e, err := nodes.Lookup(t.Context(), root, name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := nodes.ReadAll(t.Context(), e.File)
	if err != nil {
		t.Fatal(name, err)
	}
	return b
}

// A countingReader remembers how far into the file it was read.
type countingReader struct {
	formats.ReaderAt
	touched []bool
}

func newCountingReader(b []byte) *countingReader {
	return &countingReader{formats.BytesReader(b), make([]bool, len(b))}
}

func (r *countingReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(ctx, p, off)
	for i := off; i < off+int64(n); i++ {
		r.touched[i] = true
	}
	return n, err
}

// data returns the data items that were read from, and forgets.
func (r *countingReader) data(of *Reader) (list []int) {
	for i, d := range of.Data {
		if slices.Contains(r.touched[d.Offset:d.Offset+d.Stored], true) {
			list = append(list, i)
		}
	}
	clear(r.touched)
	return list
}

func countedTree(t *testing.T, b []byte) (nodes.Dir, *countingReader, *Reader) {
	t.Helper()
	r := newCountingReader(b)
	src := formats.BytesSource("test.map", nil, testTime)
	src.ReaderAt, src.Size, src.Stored = r, int64(len(b)), int64(len(b))
	root, err := New(Options{}).Open(t.Context(), src, newCache(t))
	if err != nil {
		t.Fatal(err)
	}
	return root, r, mustRead(t, b)
}

// TestListingReadsNoData lists everything: only the strings that hold the names of images and
// sounds are read. Sizes of pictures and text grids need no data either.
func TestListingReadsNoData(t *testing.T) {
	b := sample{level: oldLevel, version: "1"}.write()
	root, touched, r := countedTree(t, b)
	err := nodes.Walk(t.Context(), root, func(name string, e nodes.Entry, err error) error {
		if err != nil {
			return err
		}
		if name == "images" || name == "sounds" {
			return fs.SkipDir
		}
		sized := path.Ext(name) == ".png" || path.Ext(name) == ".txt" || path.Dir(name) == "data"
		if e.File != nil && sized {
			_, err = e.File.Size(t.Context())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := touched.data(r); got != nil {
		t.Errorf("listing reads data %v", got)
	}
	m := r.Map()
	for dir, want := range map[string]int32{"images": m.Images[0].Name, "sounds": m.Sounds[0].Name} {
		e, err := nodes.Lookup(t.Context(), root, dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Dir.Len(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := touched.data(r); !slices.Equal(got, []int{int(want)}) {
			t.Errorf("listing %s reads data %v, want %d", dir, got, want)
		}
	}
}

// TestReadTouchesItsData reads single files.
func TestReadTouchesItsData(t *testing.T) {
	root, touched, r := countedTree(t, sample{level: oldLevel, version: "1"}.write())
	m := r.Map()
	for _, c := range []struct {
		name string
		want []int
	}{
		{"data/00003", []int{3}},
		{"items/layer/00001.json", nil},
		{"envelopes/000-Pulse.json", nil},
		{"header.json", nil},
		{"settings.cfg", []int{int(*m.Info.Settings)}},
		{"layers/01-00-game-Game.txt", []int{int(*m.Layers[1].Data)}},
		{"layers/01-02-tele-Tele.json", []int{int(*m.Layers[3].Data)}},
		{"images/00-bricks.png", []int{int(m.Images[0].Name), int(m.Images[0].Data)}},
		{"sounds/00-chime.opus", []int{int(m.Sounds[0].Name), int(m.Sounds[0].Data)}},
		{"collision.png", nil}, // the game layer is known by now
	} {
		readFile(t, root, c.name)
		if got := touched.data(r); !slices.Equal(got, c.want) {
			t.Errorf("reading %s touches data %v, want %v", c.name, got, c.want)
		}
	}
}

// TestScanReadsOnce holds that the problems of run-length layers and sounds are found in one pass
// over their data.
func TestScanReadsOnce(t *testing.T) {
	w := &mapWriter{}
	w.item(typeVersion, 1)
	runs, sound := w.content([]byte{1, 0, 3, 0}), w.content(opusFile())
	w.item(typeLayer, ints(0, layerTiles, 0, 4, 2, 2, 0, 255, 255, 255, 255, -1, 0, -1, runs, textInts("Runs", 3))...)
	w.item(typeSound, 1, 0, -1, sound, 0)
	w.group("Runs", 100, 0, 1)
	b := w.bytes()
	r := mustRead(t, b)
	reads := map[int64]int{}
	src := formats.BytesSource("test.map", b, testTime)
	src.ReaderAt = readerFunc(func(p []byte, off int64) (int, error) {
		reads[off]++
		return formats.BytesReader(b).ReadAt(t.Context(), p, off)
	})
	root, err := New(Options{}).Open(t.Context(), src, newCache(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := problemCodes(t, root); got != nil {
		t.Errorf("problems %v", got)
	}
	for _, ref := range []int32{runs, sound} {
		if n := reads[r.Data[ref].Offset]; n != 1 {
			t.Errorf("data %d is read %d times", ref, n)
		}
	}
}

func TestShortNames(t *testing.T) {
	root, err := openTree(t, smallMap().bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for short, long := range map[string]string{
		"data/2": "data/00002", "items/image/1": "items/image/00001", "items/image/001.json": "items/image/00001.json",
	} {
		if got, want := readFile(t, root, short), readFile(t, root, long); !bytes.Equal(got, want) {
			t.Errorf("%s is not %s", short, long)
		}
	}
	for _, name := range []string{
		"data/3", "data/x", "data/-1", "data/000001", "data/00000.json", "items/image/1.txt", "items/image/1.1",
		"items/nosuch", "items/image/+1", "settings.cfg", "images",
	} {
		if _, err := nodes.Lookup(t.Context(), root, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want io/fs.ErrNotExist", name, err)
		}
	}
}

// TestImages compares the pixels of embedded images with their PNG files.
func TestImages(t *testing.T) {
	opaque := []byte{1, 2, 3, 255, 4, 5, 6, 255}
	w := &mapWriter{}
	w.image("through", 2, 1, []byte{1, 2, 3, 0, 4, 5, 6, 128})
	w.image("opaque", 2, 1, opaque)
	w.image("longer", 1, 1, opaque)
	w.item(typeImage, 2, 1, 2, 0, w.text("rgb"), w.content([]byte{1, 2, 3, 4, 5, 6}), variantRGB)
	root, err := openTree(t, w.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{
		"00-through": {1, 2, 3, 0, 4, 5, 6, 128}, "01-opaque": opaque, "02-longer": opaque[:4], "03-rgb": opaque,
	} {
		m, _, err := image.Decode(bytes.NewReader(readFile(t, root, "images/"+name+".png")))
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		switch m := m.(type) {
		case *image.NRGBA:
			got = m.Pix
		case *image.RGBA:
			got = m.Pix
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: pixels %v of %T, want %v", name, got, m, want)
		}
	}
}

// TestPreviewMapres draws an external image from a directory.
func TestPreviewMapres(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	for i := range m.Pix {
		m.Pix[i] = 255 * byte(i%4/2) // opaque blue
	}
	file, err := encodePNG(m, 0)
	if err != nil {
		t.Fatal(err)
	}
	mapres := fstest.MapFS{"grass_main.png": {Data: file}, "broken.png": {Data: file[:20]}}
	for _, c := range []struct {
		name string
		want [3]byte
	}{
		{"grass_main", [3]byte{0, 0, 255}},
		{"broken", plainRGB("broken")},
		{"absent", plainRGB("absent")},
		{"../grass_main", plainRGB("../grass_main")},
	} {
		w := &mapWriter{}
		w.item(typeImage, 1, 16, 16, 1, w.text(c.name), -1)
		w.tileLayer("Game", 1, 1, 1, -1, make([]byte, 4))
		w.tileLayer("Tiles", 1, 1, 0, 0, []byte{1, 0, 0, 0})
		w.group("Game", 100, 0, 2)
		root, err := openTree(t, w.bytes(), Options{Mapres: mapres})
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := image.Decode(bytes.NewReader(readFile(t, root, "preview.png")))
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]byte(pixelsOf(m)); got != c.want || m.Bounds().Dx() != 16 {
			t.Errorf("%s is drawn as %v, %v, want %v", c.name, got, m.Bounds(), c.want)
		}
	}
}

func plainRGB(name string) [3]byte {
	c := nameColor(name)
	return [3]byte{c.R, c.G, c.B}
}

// TestPreviewLeavesOut draws a map whose plain layers are out of the picture for one reason each.
func TestPreviewLeavesOut(t *testing.T) {
	plain := func(m *mapWriter, image int32, data int32) {
		m.item(typeLayer, ints(0, layerTiles, 0, 2, 1, 1, 0, 255, 255, 255, 255, -1, 0, image, data)...)
	}
	w := &mapWriter{}
	tile := w.content([]byte{1, 0, 0, 0})
	w.item(typeLayer, ints(0, layerTiles, 0, 2, 1, 1, 1, 255, 255, 255, 255, -1, 0, -1, w.content(make([]byte, 4)))...)
	plain(w, 7, tile)  // no such image
	plain(w, -1, 99)   // no such data
	plain(w, -1, tile) // parallax
	plain(w, -1, tile) // offset
	plain(w, -1, tile) // clipping
	plain(w, -1, tile) // no group
	w.group("Game", 100, 0, 3)
	w.group("Far", 50, 3, 1)
	w.item(typeGroup, 3, 32, 0, 100, 100, 4, 1)
	w.item(typeGroup, 2, 0, 0, 100, 100, 5, 1, 1, 0, 0, 9, 9)
	root, err := openTree(t, w.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := image.Decode(bytes.NewReader(readFile(t, root, "preview.png")))
	if err != nil {
		t.Fatal(err)
	}
	if got := [3]byte(pixelsOf(m)); got != previewGround {
		t.Errorf("something is drawn: %v", got)
	}
}

// TestDurableIndex finds the problems of a large map on disk, unless its bytes have changed.
func TestDurableIndex(t *testing.T) {
	w := &mapWriter{}
	w.content(make([]byte, smallIndex))
	sound := w.bytes()
	damaged := bytes.Clone(sound)
	damaged[len(damaged)-1] ^= 1 // the checksum of the zlib stream
	disk := store{}
	index := func(b []byte, changed int64, disk store) (doc []byte, reads bool) {
		r := newCountingReader(b)
		src := formats.BytesSource("test.map", nil, testTime)
		src.ReaderAt, src.Size, src.Stored, src.ID = r, int64(len(b)), int64(len(b)), "archive/test.map"
		src.Stamp = formats.Stamp{Size: src.Size, Changed: changed}
		c := cache.New(1<<20, disk)
		t.Cleanup(c.Close)
		root, err := New(Options{}).Open(t.Context(), src, c)
		if err != nil {
			t.Fatal(err)
		}
		doc = readFile(t, root, "index.json")
		return doc, r.data(mustRead(t, b)) != nil
	}
	want, _ := index(sound, 1, disk)
	of, _ := index(damaged, 1, store{})
	for i, c := range []struct {
		b       []byte
		changed int64
		want    []byte
		reads   bool
	}{{sound, 1, want, false}, {sound, 2, want, true}, {sound, 2, want, false}, {damaged, 3, of, true}, {sound, 4, want, true}} {
		got, reads := index(c.b, c.changed, disk)
		if !bytes.Equal(got, c.want) {
			t.Errorf("index %d differs", i)
		}
		if reads != c.reads {
			t.Errorf("index %d reads data: %v, want %v", i, reads, c.reads)
		}
	}
	if bytes.Equal(want, of) {
		t.Error("the damage does not show")
	}
}

func TestSaved(t *testing.T) {
	nodestest.Saved(t, testdata+"/saved.sums", indexfile.Layout, func(b []byte) []byte {
		r, err := NewReader(t.Context(), formats.BytesReader(b), int64(len(b)))
		if err != nil {
			return nil
		}
		v := newView(formats.BytesSource("test.map", b, testTime), r, newCache(t))
		found, _, err := v.findProblems(t.Context(), struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		return found.encode()
	}, testdata+"/*.txtar", testdata+"/broken/*.map", samples+"/*.map")
}

type store map[string][]byte

func (s store) Load(name string) ([]byte, bool) { b, ok := s[name]; return b, ok }
func (s store) Save(name string, b []byte)      { s[name] = b }

// TestLimit refuses what is larger than the option allows.
func TestLimit(t *testing.T) {
	w := &mapWriter{}
	w.content(make([]byte, 1000))
	w.item(typeLayer, ints(0, layerTiles, 0, 4, 100, 100, 0, 255, 255, 255, 255, -1, 0, -1, w.content([]byte{1, 0, 255, 0}))...)
	root, err := openTree(t, w.bytes(), Options{MaxData: 999})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := problemCodes(t, root), []string{"data_too_large", "layer_size", "no_version_item"}; !slices.Equal(got, want) {
		t.Errorf("problems %v, want %v", got, want)
	}
}

// TestSourceErrors lets the source fail after the tables: that is no damage.
func TestSourceErrors(t *testing.T) {
	b := sample{level: oldLevel, version: "1"}.write()
	src := formats.BytesSource("test.map", b, testTime)
	whole := src.ReaderAt
	gone := false
	src.ReaderAt = readerFunc(func(p []byte, off int64) (int, error) {
		if gone {
			return 0, nodes.ErrStale
		}
		return whole.ReadAt(t.Context(), p, off)
	})
	c := cache.New(1<<20, nil)
	defer c.Close()
	root, err := New(Options{}).Open(t.Context(), src, c)
	if err != nil {
		t.Fatal(err)
	}
	gone = true
	for _, name := range []string{"index.json", "map.json", "raw", "data/00000", "preview.png", "settings.cfg", "layers/01-00-game-Game.txt"} {
		e, err := nodes.Lookup(t.Context(), root, name)
		if err == nil {
			_, err = nodes.ReadAll(t.Context(), e.File)
		}
		if !errors.Is(err, nodes.ErrStale) {
			t.Errorf("%s: %v, want nodes.ErrStale", name, err)
		}
	}
	if e, _ := nodes.Lookup(t.Context(), root, "images"); e.Dir != nil {
		if _, err := e.Dir.Len(t.Context()); !errors.Is(err, nodes.ErrStale) {
			t.Errorf("images: %v, want nodes.ErrStale", err)
		}
	}
	gone = false
	if bad := nodestest.Check(t, root); len(bad) > 0 {
		t.Errorf("errors were remembered: %v", bad)
	}
}

func TestCancelledScan(t *testing.T) {
	root, err := openTree(t, sample{level: oldLevel}.write(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e, err := nodes.Lookup(t.Context(), root, "index.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.File.Size(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if _, err := io.ReadAll(bytes.NewReader(readFile(t, root, "index.json"))); err != nil {
		t.Error(err)
	}
}
