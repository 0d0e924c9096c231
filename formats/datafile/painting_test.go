package datafile

import (
	"bytes"
	"context"
	"encoding/json"
	"image/color"
	"image/png"
	"math/rand/v2"
	"slices"
	"testing"

	"recfs/cache"
	"recfs/formats/internal/jsonenc"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// readSmall returns files of a map in a cache of 1 MiB, and the most memory that was counted for
// any of them.
func readSmall(t *testing.T, b []byte, names ...string) (files [][]byte, most int64) {
	t.Helper()
	for _, name := range names {
		c := cache.New(1<<20, nil)
		t.Cleanup(c.Close)
		root, err := openMap(t.Context(), b, c)
		if err != nil {
			t.Fatal(err)
		}
		var content []byte
		err = c.Do(t.Context(), 0, func(ctx context.Context) error { // as one READ
			file, err := nodes.Lookup(ctx, root, name)
			if err == nil {
				content, err = nodes.ReadAll(ctx, file.File)
			}
			return err
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, peak := c.Work()
		files, most = append(files, content), max(most, peak)
	}
	return files, most
}

// TestStreamedLists reads the lists of layers that are many times as long as what is stored, and
// looks at what they take.
func TestStreamedLists(t *testing.T) {
	nodestest.Long(t)
	const side, quads = 500, 30_000
	m := &mapWriter{}
	m.item(typeVersion, 1)
	m.tileLayer("Game", 10, 10, 1, -1, make([]byte, 400))
	tele := make([]byte, 2*side*side) // nothing in the first and the last piece
	for i := 1 << 16; i < len(tele)-1<<16; i += 2 {
		tele[i], tele[i+1] = byte(i), byte(i>>8)
	}
	m.tileLayer("Tele", side, side, 2, -1, tele)
	m.quads("Quads", bytes.Repeat(quad(1, 2, 3, 4, red, blue).bytes(), quads))
	m.tileLayer("Empty", side, side, 2, -1, make([]byte, 2*side*side))
	m.group("Group", 100, 0, 4)
	files, most := readSmall(t, m.bytes(), "layers/00-01-tele-Tele.json", "layers/00-02-quads-Quads.json", "layers/00-03-tele-Empty.json")
	type tile struct{ X, Y, Number, Type int }
	var want []tile
	for i := 0; i < len(tele); i += 2 {
		if tele[i] != 0 || tele[i+1] != 0 {
			want = append(want, tile{i / 2 % side, i / 2 / side, int(tele[i]), int(tele[i+1])})
		}
	}
	sameList(t, files[0], want)
	sameList(t, files[2], []tile(nil))
	if n := bytes.Count(files[1], []byte(`{"points":[[1024,2048],[3072,2048],[1024,4096],[3072,4096],[0,0]],`)); n != quads {
		t.Errorf("%d quads, want %d", n, quads)
	}
	if most > 8<<20 {
		t.Errorf("%d bytes are counted", most)
	}
}

// sameList compares the tiles of a document with those that there are.
func sameList[T comparable](t *testing.T, document []byte, want []T) {
	t.Helper()
	var got struct{ Tiles []T }
	if err := json.Unmarshal(document, &got); err != nil || !slices.Equal(got.Tiles, want) {
		t.Errorf("%d tiles, want %d, %v", len(got.Tiles), len(want), err)
	}
	again, err := jsonenc.MarshalIndented(json.RawMessage(document))
	if err != nil || !bytes.Equal(again, document) {
		t.Errorf("it is laid out in another way, %v", err)
	}
}

// TestPreviewBands draws a preview of more than one band, of more layers than are open at a time,
// and compares it with one that is drawn at once.
func TestPreviewBands(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector makes it ten times as slow")
	}
	const side, layers = 2100, maxStreams + 2
	tiles := make([]byte, 4*side*side)
	for i := 0; i < len(tiles); i += 4 {
		tiles[i] = byte(i / 4 % 3) // a third of it is sky
	}
	m := &mapWriter{}
	m.item(typeVersion, 1)
	for i := range layers {
		m.image("", 1, 1, []byte{byte(10 * i), 255 - byte(10*i), 7, 255})
	}
	sky := skyQuads(side, side, [3]int32{100, 150, 250})
	m.quads("Sky", sky)
	data := m.content(tiles)
	for i := range layers { // each ends above the one below it
		game := int32(0)
		if i == 0 {
			game = 1
		}
		m.item(typeLayer, ints(0, layerTiles, 0, 3, side, side-i*100, game, []int32{255, 255, 255, 255}, -1, 0,
			max(i, 1), data, textInts("", 3), []int32{-1, -1, -1, -1, -1})...)
	}
	m.group("Sky", 0, 0, 1)
	m.group("Tiles", 100, 1, layers)
	files, _ := readSmall(t, m.bytes(), "preview.png")
	got, err := png.Decode(bytes.NewReader(files[0]))
	if err != nil {
		t.Fatal(err)
	}
	all := &canvas{tilesX: side, tilesY: side, scale: 1, width: side, height: side, right: side, bottom: side}
	all.rows = bytes.Repeat(previewGround[:], side*side)
	white := func(*Quad) [4]float64 { return [4]float64{1, 1, 1, 1} }
	if err := newSky(all).draw(t.Context(), &Group{}, decodeQuads(sky), white, nil); err != nil {
		t.Fatal(err)
	}
	for y := range side {
		for x := range side {
			var want color.RGBA
			top := byte(min(layers-1, (side-1-y)/100)) // 0 is the game layer, which is not drawn
			if p := all.row(x, y); tiles[4*(y*side+x)] == 0 || top == 0 {
				want = color.RGBA{p[0], p[1], p[2], 255}
			} else {
				want = color.RGBA{10 * top, 255 - 10*top, 7, 255}
			}
			if c := got.At(x, y); c != want {
				t.Fatalf("at %d, %d it is %v, want %v", x, y, c, want)
			}
		}
	}
}

// TestLargePreview looks at what a preview of 72 MB takes.
func TestLargePreview(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector makes it ten times as slow")
	}
	const width, height = 6000, 4000
	m := &mapWriter{}
	m.item(typeVersion, 1)
	runs := bytes.Repeat([]byte{1, 0, 249, 0}, width*height/250)
	m.item(typeLayer, ints(0, layerTiles, 0, 4, width, height, 1, []int32{255, 255, 255, 255}, -1, 0,
		-1, m.content(runs), textInts("Game", 3), []int32{-1, -1, -1, -1, -1})...)
	m.group("", 100, 0, 1)
	if _, most := readSmall(t, m.bytes(), "preview.png"); most > 32<<20 {
		t.Errorf("%d bytes are counted", most)
	}
}

// TestLargeImages draws layers with images that are more than a small cache holds.
func TestLargeImages(t *testing.T) {
	nodestest.Long(t)
	const side = 2400
	random := rand.New(rand.NewPCG(1, 2))
	pixels := make([]byte, 4*side*side)
	for i := range pixels {
		pixels[i] = byte(random.Uint32())
	}
	rgb := pixels[:3*side*side]
	tiles := make([]byte, 4*16*16)
	for i := range 256 {
		tiles[4*i] = byte(i)
	}
	m := &mapWriter{}
	m.item(typeVersion, 1)
	m.image("wide", side, side, pixels)
	m.item(typeImage, 2, side, side, 0, m.text("rgb"), m.content(rgb), variantRGB)
	m.tileLayer("Game", 16, 16, 1, -1, tiles)
	for i := range int32(2) {
		m.tileLayer("", 16, 16, 0, i, tiles)
	}
	m.group("", 100, 0, 3)
	names := []string{"layers/00-01-tiles.png", "layers/00-02-tiles.png", "preview.png"}
	files, most := readSmall(t, m.bytes(), names...)
	root, err := openTree(t, m.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if !bytes.Equal(files[i], readFile(t, root, name)) {
			t.Errorf("%s differs", name)
		}
	}
	if most > 30<<20 {
		t.Errorf("%d bytes are counted", most)
	}
}
