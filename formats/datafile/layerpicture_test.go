package datafile

import (
	"bytes"
	"image/color"
	"image/png"
	"testing"

	"recfs/formats"
	"recfs/nodes"
)

// TestLayerPicture compares the picture of a layer alone with the pixels of its image.
func TestLayerPicture(t *testing.T) {
	const cell = 2 // pixels of the image, 8 of the picture each
	pixels := make([]byte, 4*atlasSide*cell*atlasSide*cell)
	for i := range pixels {
		pixels[i] = byte(i * 37)
		if i%4 == 3 {
			pixels[i] = []byte{255, 0}[i/4%2]
		}
	}
	w := &mapWriter{}
	w.image("image", atlasSide*cell, atlasSide*cell, pixels)
	w.tileLayer("Game", 1, 1, 1, -1, make([]byte, 4))
	w.tileLayer("Tiles", 3, 1, 0, 0, []byte{17, 0, 0, 0, 0, 0, 0, 0, 18, flagMirrorX, 0, 0})
	w.group("Game", 100, 0, 2)
	root, err := openTree(t, w.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(readFile(t, root, "layers/00-01-tiles-Tiles.png")))
	if err != nil {
		t.Fatal(err)
	}
	if b := m.Bounds(); b.Dx() != 48 || b.Dy() != 16 {
		t.Fatalf("%v", b)
	}
	for y := range 16 {
		for x := range 48 {
			column := x / 8
			if x >= 32 { // the third tile, from its right to its left
				column = 5 - (column - 4)
			}
			want := color.NRGBA{}
			if x < 16 || x >= 32 {
				from := cell + column%cell + map[bool]int{true: cell}[x >= 32]
				i := 4 * ((cell+y/8)*atlasSide*cell + from)
				if pixels[i+3] > 0 {
					want = color.NRGBA{pixels[i], pixels[i+1], pixels[i+2], 255}
				}
			}
			if got := color.NRGBAModel.Convert(m.At(x, y)); got != want {
				t.Fatalf("at %d, %d: %v, want %v", x, y, got, want)
			}
		}
	}
}

// TestLayerColors compares the pictures of layers whose tiles have colours.
func TestLayerColors(t *testing.T) {
	for _, c := range []struct {
		kind    Kind
		records []byte
		want    []color.NRGBA
	}{
		{KindGame, []byte{0, 9, 0, 0, 1, 0, 0, 0, 12, 0, 0, 0}, []color.NRGBA{{}, rgb(0x8a6d4f), rgb(0x22314a)}},
		{KindFront, []byte{200, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0}, []color.NRGBA{rgb(0xb14fc5), {}, rgb(0x7fc8a9)}},
		{KindTele, []byte{1, 26, 1, teleOut, 0, 0}, []color.NRGBA{rgb(0xff0000), rgb(0x7f0000), {}}},
		{KindTele, []byte{0, teleCheckpointOut, 255, 26, 128, 26}, []color.NRGBA{rgb(0x7f0000), rgb(0xff0000), rgb(0xff0000)}},
	} {
		size := len(c.records) / 3
		p := drawColors(&rows{Tiles: &Tiles{Kind: c.kind, Width: 3, Height: 1, Records: c.records, size: size}}, 2)
		for y := range p.height {
			row, err := p.draw(t.Context(), 0, y, p.width)
			if err != nil {
				t.Fatal(err)
			}
			for x, i := range row {
				if got := p.palette[i]; got != c.want[x/2] {
					t.Errorf("%s: tile %d is %v, want %v", c.kind, x/2, got, c.want[x/2])
				}
			}
		}
	}
}

// TestHugePictures refuses pictures that are far larger than the file makes one expect: the tiles
// of a layer are as wide as those of the game layer, and a few run lengths make many of them.
func TestHugePictures(t *testing.T) {
	w := &mapWriter{}
	w.image("image", 1, 1, []byte{1, 2, 3, 255})
	w.tileLayer("Game", 1, 1, 1, -1, make([]byte, 4))
	w.item(typeLayer, ints(0, layerTiles, 0, 4, 5000, 5000, 0, 255, 255, 255, 255, -1, 0, 0, w.content([]byte{1, 0, 255, 0}))...)
	w.item(typeLayer, ints(0, layerTiles, 0, 2, 600, 600, 0, 255, 255, 255, 255, -1, 0, 0, w.content(make([]byte, 4*600*600)))...)
	w.group("Game", 100, 0, 3)
	root, err := openTree(t, w.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, code := range map[string]string{
		"layers/00-01-tiles.png": "layer_size", "layers/00-02-tiles.png": "layer_size", "preview.png": "", "layers/00-00-game-Game.png": "",
	} {
		e, err := nodes.Lookup(t.Context(), root, name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.File.Size(t.Context())
		if f, ok := formats.Coded(err); code == "" && err != nil || code != "" && (!ok || f.Code != code) {
			t.Errorf("%s: %v, want %q", name, err, code)
		}
	}
}

// TestChars holds the characters to those of docs/tree/datafile.md section 9.
func TestChars(t *testing.T) {
	indexes := []byte{0, 1, 3, 2, 9, 12, 11, 13, 33, 34, 35, 59, 192, 255, 60, 4}
	records := make([]byte, 0, 4*len(indexes))
	for _, i := range indexes {
		records = append(records, i, 8, 0, 0)
	}
	for _, c := range []struct {
		kind          Kind
		width, height int
		size, main    int
		records       []byte
		want          string
	}{
		{KindGame, 8, 2, 4, 0, records, " #%x~=--\nSFcc**??\n"},
		{KindFront, 16, 1, 4, 0, records, " #%x~=--SFcc**??\n"},
		{KindTele, 4, 1, 2, 1, []byte{0, 0, 7, 26, 0, 10, 123, 0}, " 703\n"},
		{KindSpeedup, 2, 1, 6, 2, []byte{0, 0, 0, 0, 0, 0, 50, 0, 28, 0, 90, 0}, " 0\n"},
	} {
		text := (&Tiles{Kind: c.kind, Width: c.width, Height: c.height, Records: c.records, size: c.size, main: c.main}).chars()
		b := make([]byte, text.Size())
		if n, err := text.ReadAt(t.Context(), b, 0); n != len(b) || err != nil || string(b) != c.want {
			t.Errorf("%s is %q, want %q, %v", c.kind, b, c.want, err)
		}
	}
}
