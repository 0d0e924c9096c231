package datafile

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"math"
	"testing"
	"testing/fstest"

	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
)

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

// TestEndlessImage: an image whose bytes are more than 64 bits can count has no more than its data.
func TestEndlessImage(t *testing.T) {
	w := &mapWriter{}
	w.image("endless", math.MaxInt32, math.MaxInt32, []byte{1, 2, 3, 4})
	root, err := openTree(t, w.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if index := readFile(t, root, "index.json"); !bytes.Contains(index, []byte("image_size")) {
		t.Errorf("no problem in %s", index)
	}
}

// TestPreviewMapres draws an external image from a directory.
func TestPreviewMapres(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	for i := range m.Pix {
		m.Pix[i] = 255 * byte(i%4/2) // opaque blue
	}
	var file bytes.Buffer
	if err := png.Encode(&file, m); err != nil {
		t.Fatal(err)
	}
	mapres := formatstest.Folder{FS: fstest.MapFS{"grass_main.png": {Data: file.Bytes()}, "broken.png": {Data: file.Bytes()[:20]}}}
	for _, c := range []struct {
		name string
		want [3]byte
	}{
		{"grass_main", [3]byte{0, 0, 255}},
		{"broken", plainRGB("broken")},
		{"absent", plainRGB("absent")},
		{"../grass_main", plainRGB("../grass_main")},
	} {
		root, err := openTree(t, externalMap(c.name).bytes(), Options{Mapres: []formats.Folder{formatstest.Folder{FS: fstest.MapFS{}}, mapres}})
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

// TestPreviewBeside draws an external image from mapres beside the map, if that is asked for,
// before the one of the same name in a directory.
func TestPreviewBeside(t *testing.T) {
	blue, red := onePixel(t, 0, 0, 255), onePixel(t, 255, 0, 0)
	mapres := []formats.Folder{formatstest.Folder{FS: fstest.MapFS{"grass_main.png": {Data: red}, "sun.png": {Data: red}}}}
	for name, want := range map[string][2][3]byte{
		"grass_main": {{0, 0, 255}, {255, 0, 0}},
		"sun":        {{255, 0, 0}, {255, 0, 0}},
		"absent":     {plainRGB("absent"), plainRGB("absent")},
	} {
		for i, beside := range []bool{true, false} {
			src := formatstest.BytesInput("test.map", externalMap(name).bytes(), testTime)
			src.Beside = formatstest.Folder{FS: fstest.MapFS{"mapres/grass_main.png": {Data: blue}}}
			root, err := formatstest.Open(t.Context(), New(Options{Mapres: mapres, Beside: beside}), src, formatstest.NewCache(t))
			if err != nil {
				t.Fatal(err)
			}
			m, err := png.Decode(bytes.NewReader(readFile(t, root, "preview.png")))
			if err != nil {
				t.Fatal(err)
			}
			if got := [3]byte(pixelsOf(m)); got != want[i] {
				t.Errorf("%s, beside %v: drawn as %v, want %v", name, beside, got, want[i])
			}
			if _, err := nodes.Lookup(t.Context(), root, "images"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is listed: %v", name, err)
			}
		}
	}
}

// externalMap is a map of one tile of an external image.
func externalMap(name string) *mapWriter {
	w := &mapWriter{}
	w.item(typeImage, 1, 16, 16, 1, w.text(name), -1)
	w.tileLayer("Game", 1, 1, 1, -1, make([]byte, 4))
	w.tileLayer("Tiles", 1, 1, 0, 0, []byte{1, 0, 0, 0})
	w.group("Game", 100, 0, 2)
	return w
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

// A map of the games is drawn without their images in about their colours: edges are shaded, and
// ornaments left out.
func TestPreviewWithoutImages(t *testing.T) {
	draw := func(name string) image.Image {
		w := &mapWriter{}
		w.item(typeImage, 1, 16, 16, 1, w.text(name), -1)
		w.tileLayer("Game", 3, 3, 1, -1, make([]byte, 9*4))
		tiles := make([]byte, 9*4)
		tiles[4*4] = 1
		w.tileLayer("Tiles", 3, 3, 0, 0, tiles)
		w.group("Game", 100, 0, 2)
		root, err := openTree(t, w.bytes(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := png.Decode(bytes.NewReader(readFile(t, root, "preview.png")))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	grey := func(m image.Image, x, y int) uint8 {
		c, _ := color.GrayModel.Convert(m.At(x, y)).(color.Gray)
		return c.Y
	}
	m := draw("grass_main_0.7")
	if c := m.At(24, 24); c != color.Color(color.RGBA{0x7a, 0x64, 0x2f, 0xff}) {
		t.Errorf("grass is %v", c)
	}
	middle := grey(m, 24, 24)
	if top := grey(m, 24, 16); top <= middle {
		t.Errorf("the upper edge is %d, the middle %d", top, middle)
	}
	for _, at := range [][2]int{{16, 24}, {31, 24}, {24, 31}} {
		if edge := grey(m, at[0], at[1]); edge >= middle {
			t.Errorf("the edge at %v is %d, the middle %d", at, edge, middle)
		}
	}
	ground := color.RGBA{previewGround[0], previewGround[1], previewGround[2], 0xff}
	if c := draw("Grass_Doodads").At(24, 24); c != color.Color(ground) {
		t.Errorf("an ornament is drawn: %v", c)
	}
}
