package datafile

import (
	"bytes"
	"image"
	"testing"
	"testing/fstest"
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
