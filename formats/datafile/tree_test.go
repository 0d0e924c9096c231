package datafile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// TestBroken opens the maps in testdata/datafile/broken. Names that begin with reject do not open;
// the others open, and exactly these files fail and these problems are told.
func TestBroken(t *testing.T) {
	layer7 := []string{"layers/01-06-tiles-Deco.json", "layers/01-06-tiles-Deco.png", "layers/01-06-tiles-Deco.txt"}
	image0 := []string{"images/00-blocks.png", "layers/01-06-tiles-Deco.png"}
	image0data := append([]string{"data/00006"}, image0...)
	cases := map[string]struct{ codes, fail []string }{
		"ok_short_size_fields.map":          {codes: []string{"size_short_by_data_sizes", "swaplen_short_by_data_sizes"}},
		"ok_size_wrong.map":                 {codes: []string{"size_wrong"}},
		"ok_zero_size_data.map":             {codes: []string{"data_size_zero", "string"}},
		"ok_hostile_image_names.map":        {codes: []string{"string", "unsafe_name", "unsafe_name", "unsafe_name"}},
		"part_cut_in_data.map":              {codes: []string{"truncated", "truncated"}, fail: []string{"data/00024", "layers/02-01-old-sounds-Old.json"}},
		"part_data_declared_too_small.map":  {codes: []string{"data_size_mismatch"}, fail: image0data},
		"ok_duplicate_item_key.map":         {codes: []string{"duplicate_item_id"}},
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
	return []byte(nodestest.Read(t, root, name))
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
	src := formatstest.BytesInput("test.map", nil, testTime)
	src.ReaderAt, src.Size, src.Stored = r, int64(len(b)), int64(len(b))
	root, err := formatstest.Open(t.Context(), New(Options{}), src, formatstest.NewCache(t))
	if err != nil {
		t.Fatal(err)
	}
	return root, r, mustRead(t, b)
}

// TestListingReadsNoData lists everything: only the strings that hold the names of images and
// sounds are read. Sizes of text grids need no data either.
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
		sized := path.Ext(name) == ".txt" || path.Dir(name) == "data"
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
	src := formatstest.BytesInput("test.map", b, testTime)
	src.ReaderAt = readerFunc(func(p []byte, off int64) (int, error) {
		reads[off]++
		return formats.BytesReader(b).ReadAt(t.Context(), p, off)
	})
	root, err := formatstest.Open(t.Context(), New(Options{}), src, formatstest.NewCache(t))
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
	src := formatstest.BytesInput("test.map", b, testTime)
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
	root, err := formatstest.Open(t.Context(), New(Options{}), src, c)
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
