package datafile

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"math"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// openKept opens a map in a state of its file above what is kept on disk.
func openKept(t *testing.T, b []byte, changed int64, opt Options, disk store) (nodes.Dir, *countingReader) {
	t.Helper()
	r := newCountingReader(b)
	src := formatstest.BytesInput("test.map", nil, testTime)
	src.ReaderAt, src.Size, src.Stored = r, int64(len(b)), int64(len(b))
	src.Stamp = formats.Stamp{Size: src.Size, Changed: changed}
	formatstest.Keep(&src, disk)
	c := cache.New(64<<20, disk)
	t.Cleanup(c.Close)
	root, err := formatstest.Open(t.Context(), New(opt), src, c)
	if err != nil {
		t.Fatal(err)
	}
	return root, r
}

// pictureFiles returns the drawn pictures of a tree.
func pictureFiles(t *testing.T, root nodes.Dir) map[string]nodes.Measured {
	t.Helper()
	files := map[string]nodes.Measured{}
	err := nodes.Walk(t.Context(), root, func(name string, e nodes.Entry, err error) error {
		if err == nil && path.Ext(name) == ".png" && path.Dir(name) != "images" {
			files[name] = e.File.(nodes.Measured)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestListingDrawsNothing asks whether the sizes of pictures are known, as a listing with
// attributes does: they are once somebody asked for them, also in a later mount.
func TestListingDrawsNothing(t *testing.T) {
	b, disk := sample{level: oldLevel, version: "1"}.write(), store{}
	sizes := map[string]int64{}
	var names []int // of external images, which tell whether what is kept is of them
	for _, o := range mustRead(t, b).Map().Images {
		if o.External {
			names = append(names, int(o.Name))
		}
	}
	for round, measured := range []bool{false, true} {
		root, touched := openKept(t, b, 1, Options{}, disk)
		files := pictureFiles(t, root)
		touched.data(mustRead(t, b)) // the names of images
		for name, f := range files {
			if f.IsMeasured(t.Context()) != measured {
				t.Errorf("round %d: the size of %s is known: %v", round, name, !measured)
			}
		}
		if got := touched.data(mustRead(t, b)); measured && !slices.Equal(got, names) || !measured && got != nil {
			t.Errorf("round %d: listing reads data %v", round, got)
		}
		for name, f := range files {
			size, err := f.Size(t.Context())
			if err != nil || round > 0 && size != sizes[name] {
				t.Errorf("round %d: %s has %d bytes, then %d, %v", round, name, sizes[name], size, err)
			}
			sizes[name] = size
			if !f.IsMeasured(t.Context()) {
				t.Errorf("round %d: the size of %s is forgotten", round, name)
			}
		}
	}
	if len(sizes) < 2 {
		t.Errorf("only the pictures %v", sizes)
	}
}

// TestKeptPicture draws a picture again when the map or an external image is another one, and only
// then: what is kept is replaced by another picture to tell.
func TestKeptPicture(t *testing.T) {
	w := externalMap("grass_main")
	b := w.bytes()
	blue, red := onePixel(t, 0, 0, 255), onePixel(t, 255, 0, 0)
	images := func(file []byte, modified int64) Options {
		return Options{Mapres: []formats.Folder{formatstest.Folder{FS: fstest.MapFS{"grass_main.png": {Data: file, ModTime: time.Unix(modified, 0)}}}}}
	}
	w.text("more")
	longer := w.bytes()
	disk := store{}
	for i, c := range []struct {
		b       []byte
		changed int64
		opt     Options
		drawn   bool
		want    [3]byte
	}{
		{b, 1, images(blue, 1), true, [3]byte{0, 0, 255}},
		{b, 1, images(blue, 1), false, [3]byte{0, 0, 255}},
		{b, 2, images(blue, 1), false, [3]byte{0, 0, 255}},
		{b, 2, images(red, 2), true, [3]byte{255, 0, 0}},
		{b, 2, Options{}, true, plainRGB("grass_main")},
		{b, 2, images(red, 2), true, [3]byte{255, 0, 0}},
		{longer, 3, images(red, 2), true, [3]byte{255, 0, 0}},
	} {
		root, _ := openKept(t, c.b, c.changed, c.opt, disk)
		file := readFile(t, root, "preview.png")
		m, err := png.Decode(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		drawn := m.Bounds() != image.Rect(0, 0, 1, 1)
		if drawn != c.drawn {
			t.Errorf("case %d: drawn: %v", i, drawn)
		}
		if got := [3]byte(pixelsOf(m)); drawn && got != c.want {
			t.Errorf("case %d: drawn in %v, want %v", i, got, c.want)
		}
		replaceKept(t, disk, onePixel(t, 1, 2, 3))
	}
}

// replaceKept puts another file in the place of the preview that is kept.
func replaceKept(t *testing.T, disk store, file []byte) {
	t.Helper()
	for name, kept := range disk {
		if strings.Contains(name, fmt.Sprint(previewPicture)) {
			r, seal := indexfile.Open(formatName, kept)
			w := indexfile.NewWriter(seal, 0)
			codeDrawing(indexfile.Codec{W: w}, &drawing{r.Uint(math.MaxUint64), file})
			disk[name] = w.Bytes()
			return
		}
	}
	t.Fatal("no preview is kept")
}

// onePixel is the PNG file of a pixel.
func onePixel(t *testing.T, r, g, b byte) []byte {
	t.Helper()
	p := &raster{width: 1, height: 1, kind: pngRGB, draw: func(_ context.Context, _, _, _ int) ([]byte, error) { return []byte{r, g, b}, nil }}
	file, err := p.png(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestForged changes what is kept of a map at random.
func TestForged(t *testing.T) {
	b := sample{level: oldLevel, version: "1"}.write()
	nodestest.Forged(t, 20, func(t testing.TB, shelf *nodestest.Shelf) nodes.Dir {
		src := formatstest.BytesInput("test.map", b, testTime)
		formatstest.Keep(&src, shelf)
		c := cache.New(64<<20, shelf)
		t.Cleanup(c.Close)
		root, err := formatstest.Open(t.Context(), New(Options{}), src, c)
		if err != nil {
			t.Fatal(err)
		}
		return root
	})
}

// TestSavedPictures holds what is drawn to the layout under which it is kept: a picture that would
// look otherwise must not be taken from the disk.
func TestSavedPictures(t *testing.T) {
	nodestest.Saved(t, testdata+"/pictures.sums", 100*indexfile.Layout+pictureVersion, func(b []byte) (all []byte) {
		r, err := NewReader(t.Context(), formats.BytesReader(b), int64(len(b)))
		if err != nil {
			return nil
		}
		rec := formats.Recording{Input: formatstest.BytesInput("test.map", b, testTime), Head: r.Tables}
		p := newPictures(newTree(rec, formatstest.NewCache(t)), nil)
		files := []nodes.File{}
		if p.m.Game != nil {
			files = append(files, p.file(collisionPicture, p.m.Game), p.file(previewPicture, p.m.Game))
		}
		for i := range p.m.Layers {
			if l := &p.m.Layers[i]; p.m.hasPicture(l) && r.checkContent(l, nil) == nil {
				files = append(files, p.file(picture(l.Index), l))
			}
		}
		for _, file := range files {
			if f, ok := file.(pictureFile); ok {
				d, err := p.load(t.Context(), f.id)
				if err != nil && !isFault(err) {
					t.Fatal(err)
				}
				w := indexfile.NewWriter(formats.Seal{}, 0)
				codeDrawing(indexfile.Codec{W: w}, &d)
				all = append(all, w.Bytes()...)
			}
		}
		return all
	}, testdata+"/*.txtar", samples+"/*.map")
}
