package datafile

import (
	"bytes"
	"encoding/json"
	"errors"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// tailedMap returns a map whose image of 16×16, quads and tiles are the beginnings of data items of
// n bytes.
func tailedMap(n int) (m *mapWriter, image, tiles int32) {
	m = &mapWriter{}
	m.item(typeVersion, 1)
	pixels := make([]byte, n)
	copy(pixels, bytes.Repeat([]byte{9, 200, 30, 255}, 16*16))
	m.image("sky", 16, 16, pixels)
	image = int32(len(m.data) - 1)
	q := quad(-750, -525, 750, 525, [4]int32{255, 255, 255, 255}, [4]int32{255, 255, 255, 255})
	quads := make([]byte, n)
	copy(quads, q.bytes())
	m.item(typeLayer, ints(0, layerQuads, 0, 2, 1, m.content(quads), 0, textInts("Quads", 3))...)
	tail := make([]byte, n)
	copy(tail, bytes.Repeat([]byte{1, 0, 0, 0}, 50))
	m.tileLayer("Game", 10, 10, 1, -1, tail)
	m.tileLayer("Tiles", 10, 10, 0, 0, tail)
	tiles = int32(len(m.data) - 1)
	m.group("Sky", 0, 0, 1)
	m.group("Game", 100, 1, 2)
	return m, image, tiles
}

// Of data items that are far longer than what is drawn of them, no more is held.
func TestTails(t *testing.T) {
	m, _, _ := tailedMap(24 << 20)
	short, _, _ := tailedMap(16 * 16 * 4)
	root, err := openTree(t, short.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{
		"preview.png", "collision.png", "images/00-sky.png", "layers/00-00-quads-Quads.json", "layers/01-00-game-Game.txt",
		"layers/01-00-game-Game.png", "layers/01-01-tiles-Tiles.png",
	}
	files, most := readSmall(t, m.bytes(), names...)
	for i, name := range names {
		if want := readFile(t, root, name); !bytes.Equal(files[i], want) && name != "layers/00-00-quads-Quads.json" {
			t.Errorf("%s is another", name)
		}
	}
	if most > 16<<20 { // 9 of them for atlases
		t.Errorf("%d bytes are counted", most)
	}
}

// What is behind the part of a data item that is shown has to be sound all the same.
func TestBrokenTails(t *testing.T) {
	for _, n := range []int{2 << 10, 4 << 20} {
		m, image, tiles := tailedMap(n)
		for _, i := range []int32{image, tiles} {
			stored := m.data[i].stored
			stored[len(stored)-1] ^= 1
		}
		c := cache.New(1<<20, nil)
		root, err := openMap(t.Context(), m.bytes(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"images/00-sky.png", "layers/01-01-tiles-Tiles.png", "layers/01-01-tiles-Tiles.txt"} {
			e, err := nodes.Lookup(t.Context(), root, name)
			if err == nil {
				_, err = nodes.ReadAll(t.Context(), e.File)
			}
			if !errors.Is(err, formats.ErrCorrupt) {
				t.Errorf("%d: %s reads with %v", n, name, err)
			}
		}
		drawn, err := png.Decode(bytes.NewReader(readFile(t, root, "preview.png")))
		if err != nil {
			t.Fatal(err)
		}
		if c, ground := drawn.At(0, 0), previewGround; c != (color.RGBA{ground[0], ground[1], ground[2], 255}) {
			t.Errorf("%d: what is damaged is drawn: %v", n, c)
		}
		c.Close()
	}
}

// Rows of pictures are as long as maps may be, and are made in parts.
func TestLongRows(t *testing.T) {
	nodestest.Long(t)
	const width = 1_200_000
	m := &mapWriter{}
	m.item(typeVersion, 1)
	pixels := bytes.Repeat([]byte{9, 200, 30, 255}, width)
	copy(pixels[4*width-4:], []byte{1, 2, 3, 4})
	m.image("long", width, 1, pixels)
	tiles := bytes.Repeat([]byte{1, 0, 0, 0}, width)
	copy(tiles[4*width-4:], []byte{3, 0, 0, 0})
	m.tileLayer("Game", width, 1, 1, -1, tiles)
	m.tileLayer("Tiles", width, 1, 0, 0, tiles)
	m.group("Group", 100, 0, 2)
	names := []string{"preview.png", "collision.png", "images/00-long.png", "layers/00-00-game-Game.png", "layers/00-01-tiles-Tiles.png"}
	files, most := readSmall(t, m.bytes(), names...)
	root, err := openTree(t, m.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if !bytes.Equal(files[i], readFile(t, root, name)) {
			t.Errorf("%s is another in a small cache", name)
		}
	}
	for i, want := range [][2]color.NRGBA{
		{{9, 200, 30, 255}, {9, 200, 30, 255}},
		{rgb(0x8a6d4f), rgb(0x4d525c)},
		{{9, 200, 30, 255}, {1, 2, 3, 4}},
	} {
		drawn, err := png.Decode(bytes.NewReader(files[i]))
		if err != nil {
			t.Fatal(err)
		}
		at := func(x int) color.NRGBA { return color.NRGBAModel.Convert(drawn.At(x, 0)).(color.NRGBA) }
		if got := [2]color.NRGBA{at(0), at(width - 1)}; got != want {
			t.Errorf("%s begins and ends with %v, want %v", names[i], got, want)
		}
	}
	if most > 8<<20 {
		t.Errorf("%d bytes are counted", most)
	}
}

// A picture that is made smaller has the mean of its pixels, also where they do not divide, and of
// RGB.
func TestTexels(t *testing.T) {
	for _, size := range []int{rgbPixel, rgbaPixel} {
		const w, h = 2*maxTexels + 1, 300
		pixels := bytes.Repeat([]byte{10, 20, 30, 255}[:size], w*h)
		for y := range h {
			copy(pixels[y*w*size:], bytes.Repeat([]byte{30, 40, 50, 255}[:size], 2))
		}
		m, err := (&Tiles{Width: w, Height: h, size: size, Records: pixels}).texels(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Rect.Dx() * m.Rect.Dy(); m.Rect.Dx() > maxTexels || got > maxTexture {
			t.Errorf("%v is too large", m.Rect)
		}
		columns := w / m.Rect.Dx()
		first := byte(10 + 20*2/columns)
		if a, b := m.NRGBAAt(0, 0), m.NRGBAAt(m.Rect.Dx()-1, m.Rect.Dy()-1); a != (color.NRGBA{first, first + 10, first + 20, 255}) || b != (color.NRGBA{10, 20, 30, 255}) {
			t.Errorf("%d bytes a pixel: %v and %v, of %v", size, a, b, m.Rect)
		}
	}
}

// Lists of documents of a map are whole over many pieces, whatever the texts beside them look like.
func TestLongLists(t *testing.T) {
	const n, name = 1500, `<&"[]`
	m := &mapWriter{}
	m.item(typeVersion, 1)
	commands := strings.Repeat("say []\x00", 2*partText/7)
	m.item(typeInfo, ints(1, m.text("[]"), -1, m.text(`"[]`), -1, m.content([]byte(commands+"last")))...)
	ref := m.text(name)
	for i := range n {
		m.item(typeImage, 1, int32(i), 1, 1, ref, -1)
		m.item(typeGroup, 1, int32(i), 0, 0, 0, 0, 0)
	}
	root, err := openTree(t, m.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Info struct {
			Author, Credits string
			Settings        []string
		}
		Images []struct {
			Width int
			Name  string
		}
		Sounds, AutoMappers []any
		Groups              []struct{ Offset [2]int }
	}
	if err := json.Unmarshal(readFile(t, root, "map.json"), &doc); err != nil {
		t.Fatal(err)
	}
	if s := doc.Info.Settings; doc.Info.Author != "[]" || doc.Info.Credits != `"[]` || len(s) != 2*partText/7+1 || s[0] != "say []" || s[len(s)-1] != "last" {
		t.Errorf("info %.200v", doc.Info)
	}
	if len(doc.Images) != n || len(doc.Groups) != n || doc.Sounds == nil || doc.AutoMappers == nil {
		t.Fatalf("%d images, %d groups", len(doc.Images), len(doc.Groups))
	}
	for i := range n {
		if doc.Images[i].Width != i || doc.Images[i].Name != name || doc.Groups[i].Offset[0] != i {
			t.Fatalf("%d: %v, %v", i, doc.Images[i], doc.Groups[i])
		}
	}
	var index struct {
		Items []struct{ Item int }
		Data  []struct {
			UsedBy []string `json:"used_by"`
		}
		Problems []formats.Problem
	}
	if err := json.Unmarshal(readFile(t, root, "index.json"), &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Items) != 2*n+2 || index.Items[2*n+1].Item != 2*n+1 || len(index.Data[ref].UsedBy) != n || len(index.Problems) != 1 {
		t.Errorf("%d items, data used by %d, problems %v", len(index.Items), len(index.Data[ref].UsedBy), index.Problems)
	}
}
