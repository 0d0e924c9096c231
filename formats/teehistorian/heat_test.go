package teehistorian

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes/nodestest"
)

// crowd is a recording of who stands still, who walks and dies, and who is far off.
func crowd(members map[string]any) *writer {
	w := newWriter(members)
	w.new(0, 40, 40)
	w.new(1, 0, 70)
	w.skip(9) // to tick 11
	w.diff(1, 10, 0)
	w.skip(4) // to tick 16
	w.diff(1, 30, -1)
	w.skip(0)
	w.old(1)
	w.skip(0)
	w.new(2, -1, 3*tile)
	w.skip(2) // to tick 21, the last
	w.join(3)
	return w
}

// A character counts on its square for each tick until it leaves it, dies, or the recording ends.
func TestHeatCounts(t *testing.T) {
	w := crowd(nil)
	h, x := indexed(t, w.b)
	r := &recording{src: formatstest.BytesInput("x", w.b, time.Unix(1, 0)), idx: x, render: renderer{h.idents}}
	got, err := r.countHeat(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := int64(x.lastTick()-x.firstTick()) + 1
	want := map[image.Point]int64{{X: 1, Y: 1}: all, {X: 0, Y: 2}: 15, {X: 1, Y: 2}: 1, {X: -1, Y: 3}: 4}
	if diff := cmp.Diff(want, got.ticks); diff != "" {
		t.Error(diff)
	}
	got.coarsen()
	want = map[image.Point]int64{{}: all, {X: 0, Y: 1}: 16, {X: -1, Y: 1}: 4}
	if diff := cmp.Diff(want, got.ticks); diff != "" {
		t.Errorf("squares of two tiles: %s", diff)
	}
}

// heat.png is not listed; it has the grid of the map if that is at hand, and its solid tiles.
func TestHeatPicture(t *testing.T) {
	file := []byte("a map")
	sum := sha256.Sum256(file)
	w := crowd(map[string]any{"version": "2", "map_name": "m", "map_sha256": hex.EncodeToString(sum[:])})
	format := New(Options{Map: func(context.Context, []byte) (*formats.Outline, error) {
		return &formats.Outline{Width: 3, Height: 5, Solid: append(make([]bool, 13), true, true)}, nil
	}})
	white, grey, most := color.White, color.Gray{0xcc}, heatColours[len(heatColours)-1]
	for _, c := range []struct {
		files fstest.MapFS
		size  image.Point
		want  map[image.Point]color.Color
	}{
		{fstest.MapFS{"m.map": {Data: file}}, image.Pt(3, 5), map[image.Point]color.Color{{}: white, {X: 1, Y: 1}: most, {X: 1, Y: 4}: grey, {X: 2, Y: 4}: grey}},
		{nil, image.Pt(3, 4), map[image.Point]color.Color{{X: 1}: white, {X: 2, Y: 1}: most}}, // from the square -1 on
	} {
		src := formatstest.BytesInput("x.teehistorian", w.b, time.Unix(1, 0))
		src.Beside = formatstest.Folder{FS: c.files}
		root, err := formatstest.Open(t.Context(), format, src, newCache(t))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(strings.NewReader(nodestest.Read(t, root, "export/heat.png")))
		if err != nil {
			t.Fatal(err)
		}
		if got := img.Bounds().Size(); got != c.size.Mul(maxHeatZoom) {
			t.Fatalf("the picture is %v, want %v", got, c.size.Mul(maxHeatZoom))
		}
		for at, want := range c.want {
			for _, corner := range []image.Point{at.Mul(maxHeatZoom), at.Add(image.Pt(1, 1)).Mul(maxHeatZoom).Sub(image.Pt(1, 1))} {
				if got := color.RGBAModel.Convert(img.At(corner.X, corner.Y)); got != color.RGBAModel.Convert(want) {
					t.Errorf("tile %v is %v, want %v", at, got, want)
				}
			}
		}
		for _, name := range []string{"export/heat.png", "players/00/path.svg"} {
			if _, ok := nodestest.Files(t, root)[name]; ok {
				t.Errorf("%s is listed", name)
			}
		}
	}
}

// Recordings of nobody, and of somebody very far off, have small pictures.
func TestHeatBounds(t *testing.T) {
	far := newWriter(nil)
	far.new(0, 1<<31-1, 1<<31-1)
	far.new(1, -1<<31, -1<<31)
	for _, w := range []*writer{newWriter(nil), far} {
		config, err := png.DecodeConfig(strings.NewReader(nodestest.Read(t, rootOf(t, w), "export/heat.png")))
		if err != nil || config.Width < 1 || config.Width*config.Height > maxHeatPixels {
			t.Errorf("%d by %d, %v", config.Width, config.Height, err)
		}
	}
}

// path.svg of a stay is what paths.svg would be without the others: lines break at respawns and
// teleports, and the best run is that of the stay, not of the fastest.
func TestPathOfStay(t *testing.T) {
	record := func(both bool) string {
		w := newWriter(nil)
		w.join(0)
		w.new(0, 0, 0)
		if both {
			w.join(1)
			w.new(1, 5000, 5000)
		}
		w.diff(0, 32, 0)
		w.diff(0, 0, 32*11)
		w.diff(0, 32, 0)
		w.ex("player_finish", 0, packed(0, 10))
		w.skip(0)
		if both {
			w.ex("player_finish", 1, packed(1, 2))
		}
		w.old(0)
		w.new(0, 7, 7)
		root := rootOf(t, w)
		if both {
			return nodestest.Read(t, root, "players/00/path.svg")
		}
		return nodestest.Read(t, root, "export/paths.svg")
	}
	got := record(true)
	if diff := cmp.Diff(record(false), got); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{
		"<polyline points=\"0,0 32,0\"/>\n<path class=\"l\" d=\"M32,352 64,352\"/>\n<polyline points=\"7,7\"/>\n</g>",
		"d=\"M0,0 32,0M32,352 64,352\"/>", "<title>start</title>", ">finish: 00, 0:00:00.20</text>",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %s in %s", want, got)
		}
	}
}
