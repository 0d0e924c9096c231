package datafile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/png"
	"testing"

	"recfs/nodes/nodestest"
)

// quad returns a quad of one colour above and one below.
func quad(left, top, right, bottom int32, above, below [4]int32) Quad {
	left, top, right, bottom = left*fixedPoint, top*fixedPoint, right*fixedPoint, bottom*fixedPoint
	return Quad{
		Points: [5][2]int32{{left, top}, {right, top}, {left, bottom}, {right, bottom}},
		Colors: [4][4]int32{above, above, below, below},
		PosEnv: -1, ColorEnv: -1,
	}
}

func (q Quad) bytes() []byte {
	b, err := binary.Append(nil, binary.LittleEndian, q)
	if err != nil {
		panic(err)
	}
	return b
}

var (
	red   = [4]int32{255, 0, 0, 255}
	blue  = [4]int32{0, 0, 255, 255}
	faint = [4]int32{255, 0, 0, 127}
)

// TestSky draws skies over a map of 10×10 tiles of 16 pixels, 320×320 world units.
func TestSky(t *testing.T) {
	screen := quad(-screenWidth/2, -screenHeight/2, screenWidth/2, screenHeight/2, red, blue)
	ground := previewGround
	at := func(y int) [3]byte { // of the gradient over the whole map
		part := (float64(y) + 0.5) / 160
		return [3]byte{byte(255*(1-part) + 0.5), 0, byte(255*part + 0.5)}
	}
	moved, tinted := screen, screen
	moved.PosEnv, tinted.ColorEnv = 0, 0
	for _, c := range []struct {
		name  string
		group Group
		quad  Quad
		want  map[image.Point][3]byte
	}{
		{"a screen that stands still covers the map", Group{}, screen, map[image.Point][3]byte{
			{0, 0}: at(0), {159, 0}: at(0), {80, 80}: at(80), {0, 159}: at(159), {159, 159}: at(159),
		}},
		{"what moves with the map is where it is", Group{Parallax: [2]int32{100, 100}}, quad(64, 96, 128, 160, red, red), map[image.Point][3]byte{
			{32, 48}: {255, 0, 0}, {63, 79}: {255, 0, 0}, {31, 48}: ground, {64, 79}: ground, {32, 47}: ground, {63, 80}: ground,
		}},
		{"an offset moves it back", Group{Parallax: [2]int32{100, 100}, Offset: [2]int32{32, 0}}, quad(64, 96, 128, 160, red, red), map[image.Point][3]byte{
			{16, 48}: {255, 0, 0}, {47, 48}: {255, 0, 0}, {48, 48}: ground,
		}},
		{"clipping", Group{Clip: &Clip{Use: true, X: 32, Y: 64, W: 64, H: 32}}, screen, map[image.Point][3]byte{
			{16, 32}: at(32), {47, 47}: at(47), {15, 32}: ground, {48, 47}: ground, {47, 48}: ground,
		}},
		{"it shows what is below", Group{}, quad(-750, -525, 750, 525, faint, faint), map[image.Point][3]byte{
			{80, 80}: {0xae, 0x37, 0x3f},
		}},
		{"an envelope moves it", Group{}, moved, map[image.Point][3]byte{{80, 80}: ground}},
		{"an envelope tints it", Group{}, tinted, map[image.Point][3]byte{{0, 0}: {127, 0, 0}}},
		{"the group moves backwards", Group{Parallax: [2]int32{-1000, 100}}, screen, map[image.Point][3]byte{{80, 80}: ground}},
	} {
		canvas := newCanvas(10, 10, maxBand)
		canvas.next()
		err := newSky(canvas).draw(t.Context(), &c.group, []Quad{c.quad}, func(q *Quad) [4]float64 {
			if q.ColorEnv == 0 {
				return [4]float64{0.5, 1, 1, 1}
			}
			return [4]float64{1, 1, 1, 1}
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantPixels(t, c.name, canvas, c.want)
	}
}

// TestSkyWork stops drawing before a great number of large quads takes long, and when it is told
// to.
func TestSkyWork(t *testing.T) {
	nodestest.Long(t)
	canvas := newCanvas(10, 10, maxBand)
	canvas.next()
	quads := make([]Quad, 1<<20)
	for i := range quads {
		quads[i] = quad(-1<<20, -1<<20, 1<<20, 1<<20, red, red)
	}
	quads[len(quads)-1] = quad(-1<<20, -1<<20, 1<<20, 1<<20, blue, blue)
	white := func(*Quad) [4]float64 { return [4]float64{1, 1, 1, 1} }
	if err := newSky(canvas).draw(t.Context(), &Group{}, quads, white, nil); err != nil {
		t.Fatal(err)
	}
	if got := [3]byte(canvas.rows); got != [3]byte{255, 0, 0} {
		t.Errorf("the picture is %v: the last quad was drawn", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newSky(canvas).draw(ctx, &Group{}, quads, white, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// TestPreviewSky draws the quads of the groups before the first tiles, without an image and
// unharmed, and no others.
func TestPreviewSky(t *testing.T) {
	screen := quad(-2000, -2000, 2000, 2000, red, red)
	yellow := quad(-2000, -2000, 2000, 2000, [4]int32{255, 255, 0, 255}, [4]int32{255, 255, 0, 255})
	ground, drawn := previewGround, [3]byte{255, 0, 0}
	for _, c := range []struct {
		name string
		add  func(w *mapWriter)
		want [3]byte
	}{
		{"a sky", func(w *mapWriter) { w.quads("Sky", screen.bytes()); w.group("Sky", 0, 0, 1) }, drawn},
		{"one over the other", func(w *mapWriter) {
			w.quads("Sky", append(yellow.bytes(), screen.bytes()...))
			w.group("Sky", 0, 0, 1)
		}, drawn},
		{"one with an image", func(w *mapWriter) {
			w.image("half red", 1, 1, []byte{128, 255, 255, 255})
			w.item(typeLayer, ints(0, layerQuads, 0, 2, 1, w.content(screen.bytes()), 0, textInts("Cloud", 3))...)
			w.group("Sky", 0, 0, 1)
		}, [3]byte{128, 0, 0}},
		{"one with an image that is not at hand", func(w *mapWriter) {
			w.item(typeImage, 1, 16, 16, 1, w.text("nowhere"), -1)
			w.item(typeLayer, ints(0, layerQuads, 0, 2, 1, w.content(screen.bytes()), 0, textInts("Cloud", 3))...)
			w.group("Sky", 0, 0, 1)
		}, ground},
		{"one with an image that does not exist", func(w *mapWriter) {
			w.item(typeLayer, ints(0, layerQuads, 0, 2, 1, w.content(screen.bytes()), 0, textInts("Cloud", 3))...)
			w.group("Sky", 0, 0, 1)
		}, ground},
		{"one with too few bytes", func(w *mapWriter) {
			w.item(typeLayer, ints(0, layerQuads, 0, 2, 2, w.content(screen.bytes()), -1, textInts("Short", 3))...)
			w.group("Sky", 0, 0, 1)
		}, ground},
		{"one of no group", func(w *mapWriter) { w.quads("Sky", screen.bytes()); w.group("Empty", 0, 0, 0) }, ground},
	} {
		w := &mapWriter{}
		c.add(w)
		w.tileLayer("Game", 2, 2, 1, -1, make([]byte, 16))
		w.tileLayer("Tiles", 2, 2, 0, -1, make([]byte, 16))
		w.group("Game", 100, 1, 2)
		w.quads("Front", yellow.bytes())
		w.group("Front", 0, 3, 1)
		root, err := openTree(t, w.bytes(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := png.Decode(bytes.NewReader(readFile(t, root, "preview.png")))
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]byte(pixelsOf(m)); got != c.want {
			t.Errorf("%s: the first pixel is %v, want %v", c.name, got, c.want)
		}
	}
}

// wantPixels compares pixels of a canvas, which rounding may make one more or less.
func wantPixels(t *testing.T, name string, canvas *canvas, wants map[image.Point][3]byte) {
	t.Helper()
	for p, want := range wants {
		i := (p.Y*canvas.width + p.X) * bytesPerPixel
		for k, v := range canvas.rows[i : i+3] {
			if d := int(v) - int(want[k]); d < -1 || d > 1 {
				t.Errorf("%s: %v is %v, want %v", name, p, canvas.rows[i:i+3], want)
				break
			}
		}
	}
}
