package compare_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recfs/formats/compare"
	"recfs/nodes"
)

// treeOf is a tree of files by their paths.
func treeOf(files map[string]string) nodes.Entry {
	var entries []nodes.Entry
	below := map[string]map[string]string{}
	for name, content := range files {
		dir, rest, ok := strings.Cut(name, "/")
		if !ok {
			entries = append(entries, file(name, content))
			continue
		}
		if below[dir] == nil {
			below[dir] = map[string]string{}
		}
		below[dir][rest] = content
	}
	for name, files := range below {
		e := treeOf(files)
		e.Name = name
		entries = append(entries, e)
	}
	return nodes.Entry{Name: "tree", Dir: nodes.List(entries...)}
}

// mapOf is the tree of a map with this map.json, and more files.
func mapOf(page string, more ...string) nodes.Entry {
	files := map[string]string{"map.json": page}
	for i := 0; i < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return treeOf(files)
}

// A list is told by names of its elements, by places, or by what both have in the same order.
func TestLists(t *testing.T) {
	nine := "1,2,3,4,5,6,7,8,9"
	for _, c := range []struct {
		name, a, b string
		want       []string
	}{
		{"a point of other length", `[1,2]`, `[1,2,3]`, []string{"added   3"}},
		{"long lists by place", "[" + nine + "]", "[0" + nine[1:] + "]", []string{"changed [0] 1 0"}},
		{"dir before name", `[{"dir":"a","name":"x"}]`, `[{"dir":"a","name":"y"}]`, []string{`changed [a].name "x" "y"`}},
		{"letters", `[{"letter":"a","n":1},{"letter":"b"}]`, `[{"letter":"b"}]`, []string{`removed [a] {"letter":"a","n":1}`}},
		{"numbers as names", `[{"id":7,"n":1}]`, `[{"id":8},{"id":7,"n":2}]`, []string{"changed [7].n 1 2", `added [8]  {"id":8}`}},
		{"an empty name", `[{"name":"","n":1}]`, `[{"name":"","n":2},{"name":"b"}]`, []string{`changed [""].n 1 2`, `added [b]  {"name":"b"}`}},
		{"names that are not unique", `[{"name":"a","n":1},{"name":"a"}]`, `[{"name":"a","n":2},{"name":"a"}]`, []string{"changed [0].n 1 2"}},
		{"a text and a number that look alike", `[{"id":1,"n":1},{"id":"1","n":2}]`, `[{"id":1,"n":1},{"id":"1","n":3}]`, []string{"changed [1].n 2 3"}},
		{"names of null", `[{"name":null,"n":1},1]`, `[{"name":null,"n":2},1]`, []string{"changed [0].n 1 2"}},
		{"lists in lists", `{"a":[[1,2],["x"]]}`, `{"a":[[1,3],["y"]]}`, []string{"changed a[0] [1,2] [1,3]", `changed a[1][0] "x" "y"`}},
		{"in the middle", `["a","b","c","d"]`, `["a","x","b","d"]`, []string{`changed [1] "b" "x"`, `changed [2] "c" "b"`}},
		{"moved", `["a","b","c"]`, `["b","c","a","a"]`, []string{`removed  "a"`, `added   "a"`, `added   "a"`}},
		{"emptied", `{"a":["x"]}`, `{"a":[]}`, []string{`removed a "x"`}},
		{"repeated keys", `{"a":1,"a":2}`, `{"a":1,"a":3}`, []string{"changed a 2 3"}},
	} {
		got, err := lines(t, file("a.json", c.a), file("b.json", c.b), nil)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
	}
}

// A document is the same as itself, and all that differs from another is told: the changes of the
// way back are those of the way there, turned round.
func TestThereAndBack(t *testing.T) {
	var document func(depth int) *rapid.Generator[string]
	document = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kinds := 4
			if depth == 0 {
				kinds = 2
			}
			switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
			case 0:
				return rapid.SampledFrom([]string{"1", "-2.50", "null", "true", "12345678901234567890"}).Draw(t, "value")
			case 1:
				return rapid.SampledFrom([]string{`"a"`, `""`, `"<&>"`, `"\u00e9\n"`}).Draw(t, "text")
			case 2:
				return "[" + strings.Join(rapid.SliceOfN(document(depth-1), 0, 5).Draw(t, "list"), ",") + "]"
			}
			var members []string
			for _, key := range rapid.SliceOfN(rapid.SampledFrom([]string{"name", "id", "x", "y z"}), 0, 5).Draw(t, "keys") {
				members = append(members, fmt.Sprintf("%q:%s", key, document(depth-1).Draw(t, "member")))
			}
			return "{" + strings.Join(members, ",") + "}"
		})
	}
	rapid.Check(t, func(rt *rapid.T) {
		x, y := document(3).Draw(rt, "a"), document(3).Draw(rt, "b")
		a, b := file("a.json", x), file("b.json", y)
		if same, err := lines(t, a, a, nil); len(same) > 0 || err != nil {
			rt.Fatalf("%s differs from itself: %q, %v", x, same, err)
		}
		count := func(a, b nodes.Entry) (n [3]int) {
			err := compare.Entries(t.Context(), side(t, a), side(t, b), nil, func(c compare.Change) error {
				n[map[compare.Kind]int{compare.Added: 0, compare.Removed: 1, compare.Changed: 2}[c.Kind]]++
				if (c.Kind == compare.Added) != (c.Old == nil) || (c.Kind == compare.Removed) != (c.New == nil) {
					rt.Errorf("%+v", c)
				}
				return nil
			})
			if err != nil {
				rt.Fatal(err)
			}
			return n
		}
		there, back := count(a, b), count(b, a)
		if there[0] != back[1] || there[1] != back[0] || there[2] != back[2] {
			rt.Errorf("%s to %s: %v there, %v back", x, y, there, back)
		}
	})
}

// Parts of maps are told by their names, whatever their order, and not by numbers that refer to
// others.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b nodes.Entry
		want []string
	}{
		{
			"numbers of parts",
			mapOf(`{"images":[{"name":"a","index":0,"id":5},{"name":"b"}],"layers":[{"kind":"tiles","name":"l","image":1,"group":0,"layer":3}]}`),
			mapOf(`{"images":[{"name":"b","id":6},{"name":"a","index":1}],"layers":[{"kind":"tiles","name":"l","image":0,"group":0,"layer":4}]}`), nil,
		},
		{
			"another image of a layer",
			mapOf(`{"images":[{"name":"a"},{"name":"b"}],"layers":[{"kind":"tiles","image":0,"group":-1}]}`),
			mapOf(`{"images":[{"name":"a"},{"name":"b"}],"layers":[{"kind":"tiles","image":1,"group":-1}]}`),
			[]string{`changed layers/xx-tiles.image "a" "b"`},
		},
		{
			"parts that came and went", mapOf(`{"sounds":[{"name":"a"}],"groups":[{"name":"g","index":0},{"index":1,"x":1}]}`),
			mapOf(`{"sounds":[{"name":"b"}],"groups":[{"name":"g","index":0},{"index":1,"x":2}]}`),
			[]string{`removed sounds/a {"name":"a"}`, `added sounds/b  {"name":"b"}`, "changed groups/01.x 1 2"},
		},
		{
			"names that are not unique", mapOf(`{"images":[{"name":"a","w":1},{"name":"a","w":2},{"name":"a~2","w":3},{"w":4}]}`),
			mapOf(`{"images":[{"name":"a","w":1},{"name":"a","w":2},{"name":"a~2","w":5},{"w":6}]}`),
			[]string{"changed images/a~2~2.w 3 5", "changed images/~1.w 4 6"},
		},
		{
			"data of an image", mapOf(`{"images":[{"name":"a","data_index":3}]}`, "data/00003", "old"),
			mapOf(`{"images":[{"name":"a","data_index":4}]}`, "data/00004", "new"),
			[]string{"changed images/a   the content differs"},
		},
		{
			"data that lies outside", mapOf(`{"images":[{"name":"a","data_index":3,"external":true},{"name":"b","data_index":-1}]}`, "data/00003", "old"),
			mapOf(`{"images":[{"name":"a","data_index":3,"external":true},{"name":"b","data_index":3}]}`, "data/00003", "new"), nil,
		},
		{
			"points of an envelope", mapOf(`{"envelopes":[{"name":"e","path":"envelopes/0.json"}]}`, "envelopes/0.json", `{"points":[1,2],"index":0}`),
			mapOf(`{"envelopes":[{"name":"e","path":"envelopes/1.json"}]}`, "envelopes/1.json", `{"points":[1,3],"index":1}`),
			[]string{"changed envelopes/e.points [1,2] [1,3]"},
		},
		{
			"quads", mapOf(`{"layers":[{"kind":"quads","path":"l/a"}]}`, "l/a.json", `{"quads":[{"x":1}],"other":1}`),
			mapOf(`{"layers":[{"kind":"quads","path":"l/b"}]}`, "l/b.json", `{"quads":[{"x":2}],"other":2}`),
			[]string{"changed layers/xx-quads.quads[0].x 1 2"},
		},
		{
			"layers with one id",
			mapOf(`{"layers":[{"id":3,"kind":"tiles","name":"a","width":0,"height":0,"path":"l"},{"id":3,"kind":"tiles","name":"b","width":0,"height":0,"path":"l"}]}`,
				"l.txt", "", "items/layer/00003.json", `{"color_env":1}`, "items/layer/00003.1.json", `{"color_env":2}`),
			mapOf(`{"layers":[{"id":3,"kind":"tiles","name":"b","width":0,"height":0,"path":"l"},{"id":3,"kind":"tiles","name":"a","width":0,"height":0,"path":"l"}]}`,
				"l.txt", "", "items/layer/00003.json", `{"color_env":2}`, "items/layer/00003.1.json", `{"color_env":5}`),
			[]string{"changed layers/xx-tiles-a.color_env 1 5"},
		},
		{"version and settings", mapOf(`{"version":1,"info":{"settings":["a"]}}`), mapOf(`{"version":2,"info":{"settings":["a","b"]}}`), []string{"changed version 1 2", `added info.settings  "b"`}},
	} {
		got, err := lines(t, c.a, c.b, nil)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
		if same, err := lines(t, c.a, c.a, nil); len(same) > 0 || err != nil {
			t.Errorf("%s: a map differs from itself: %q, %v", c.name, same, err)
		}
	}
}

// layerOf is a map of one tile layer whose rows are given, with cells parted by blanks.
func layerOf(kind string, cell int, rows ...string) nodes.Entry {
	var text strings.Builder
	width := 0
	for _, row := range rows {
		cells := strings.Fields(row)
		width = len(cells)
		for _, c := range cells {
			fmt.Fprintf(&text, "%-*s", cell, c)
		}
		text.WriteByte('\n')
	}
	return mapOf(fmt.Sprintf(`{"layers":[{"kind":%q,"width":%d,"height":%d,"path":"l/0"}]}`, kind, width, len(rows)), "l/0.txt", text.String())
}

// Tiles are counted, boxed and told by what took the place of what; outside of a layer is air.
func TestTiles(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b nodes.Entry
		want string // without changes of fields
	}{
		{"the same", layerOf("tiles", 7, "1 . 2", ". . ."), layerOf("tiles", 7, "1 . 2", ". . ."), ""},
		{"one tile", layerOf("tiles", 7, ". . .", ". . ."), layerOf("tiles", 7, ". . .", ". 9/01 ."), "{Count:1 X:1 Y:1 Width:1 Height:1 Replaced:[{Old:. New:9/01 Count:1 OldName: NewName:}]}"},
		{
			"a box, the most frequent first", layerOf("game", 7, "1 . 2", "1 . .", "1 . 2"), layerOf("game", 7, "3 . 2", "3 . .", "1 . ."),
			"{Count:3 X:0 Y:0 Width:3 Height:3 Replaced:[{Old:1 New:3 Count:2 OldName:hookable NewName:unhookable} {Old:2 New:. Count:1 OldName:death NewName:air}]}",
		},
		{"wider and lower", layerOf("tiles", 7, "1 1", "1 1"), layerOf("tiles", 7, "1 1 5"), "{Count:3 X:0 Y:0 Width:3 Height:2 Replaced:[{Old:1 New:. Count:2 OldName: NewName:} {Old:. New:5 Count:1 OldName: NewName:}]}"},
		{"air that came", layerOf("tiles", 7, "1"), layerOf("tiles", 7, "1 .", ". ."), ""},
		{"cells of teleporters", layerOf("tele", 8, "26:255 ."), layerOf("tele", 8, "26:254 ."), "{Count:1 X:0 Y:0 Width:1 Height:1 Replaced:[{Old:26:255 New:26:254 Count:1 OldName: NewName:}]}"},
	} {
		marked := 0
		got, err := lines(t, c.a, c.b, func(string, int, int, string, string) { marked++ })
		tiles := ""
		for _, line := range got {
			if at := strings.Index(line, "{Count"); at >= 0 {
				tiles = line[at:]
			}
		}
		if tiles != c.want || err != nil || !strings.Contains(c.want, fmt.Sprintf("Count:%d X", marked)) && marked > 0 {
			t.Errorf("%s: %s, %d marks, %v, want %s", c.name, tiles, marked, err, c.want)
		}
	}
	var unreadable *compare.UnreadableError
	broken := mapOf(`{"layers":[{"kind":"tiles","width":2,"height":1,"path":"l/0"}]}`, "l/0.txt", "1\n")
	for name, other := range map[string]nodes.Entry{"a grid of another size": broken, "no grid": mapOf(`{"layers":[{"kind":"tiles","width":2,"height":1,"path":"l/1"}]}`)} {
		if _, err := lines(t, layerOf("tiles", 7, "1 1"), other, nil); !errors.As(err, &unreadable) || unreadable.Path != "layers/xx-tiles" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// No more than 32 kinds of replacements are listed.
func TestManyReplacements(t *testing.T) {
	var old, now []string
	for i := range 40 {
		old, now = append(old, "."), append(now, fmt.Sprint(i+1))
	}
	var got *compare.Tiles
	err := compare.Entries(t.Context(), side(t, layerOf("tiles", 7, strings.Join(old, " "))), side(t, layerOf("tiles", 7, strings.Join(now, " "))), nil, func(c compare.Change) error {
		got = c.Tiles
		return nil
	})
	if err != nil || got.Count != 40 || len(got.Replaced) != 32 || got.Width != 40 {
		t.Errorf("%+v, %v", got, err)
	}
}

// pictured is a map whose collision.png has that size.
func pictured(t *testing.T, width, height int) compare.Side {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, width, height))
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return side(t, treeOf(map[string]string{"map.json": "{}", "collision.png": b.String()}))
}

// A picture has both maps, at a scale that keeps it small, and the colours of what happened.
func TestPictures(t *testing.T) {
	p, err := compare.NewPicture(t.Context(), pictured(t, 3, 2), pictured(t, 2, 4), false)
	if err != nil {
		t.Fatal(err)
	}
	p.Mark("", 0, 0, ".", "1")
	p.Mark("", 1, 1, "1", ".")
	p.Mark("", 2, 1, "1", "2")
	p.Mark("", 100, 100, "1", "2") // outside of the picture
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil || img.Bounds().Dy() <= 4*16 { // the legend is below the maps
		t.Fatalf("%v, %v", img.Bounds(), err)
	}
	for at, want := range map[image.Point]color.NRGBA{
		{0, 0}: {0x2f, 0x9e, 0x44, 0xff}, {1, 1}: {0xd4, 0x3d, 0x2a, 0xff}, {2, 1}: {0xf0, 0x8c, 0x00, 0xff},
		{0, 1}: {0x80, 0x80, 0x80, 0xff}, {2, 0}: {0x80, 0x80, 0x80, 0xff}, {2, 3}: {0xee, 0xee, 0xee, 0xff},
	} {
		if got := color.NRGBAModel.Convert(img.At(at.X*16+15, at.Y*16)); got != want {
			t.Errorf("the tile %v is %v, want %v", at, got, want)
		}
	}
	for name, c := range map[string]struct{ width, height int }{"wide": {16385, 1}, "high": {1, 16385}, "large": {8001, 8000}} {
		if _, err := compare.NewPicture(t.Context(), pictured(t, 1, 1), pictured(t, c.width, c.height), false); err == nil || errors.Is(err, compare.ErrNothing) {
			t.Errorf("a map that is too %s: %v", name, err)
		}
	}
	if _, err := compare.NewPicture(t.Context(), side(t, treeOf(map[string]string{"map.json": "{}", "collision.png": "no picture"})), pictured(t, 1, 1), false); err == nil {
		t.Error("a picture of what is no picture")
	}
}

// A wide and flat map is folded into rows.
func TestFoldedPicture(t *testing.T) {
	p, err := compare.NewPicture(t.Context(), pictured(t, 40, 2), pictured(t, 40, 2), false)
	if err != nil {
		t.Fatal(err)
	}
	p.Mark("", 14, 0, ".", "1") // the first tile of the second row
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if r, g, _, _ := img.At(8, 3*16+8).RGBA(); r >= g {
		t.Errorf("the tile is not below the first row: %v", img.At(8, 3*16+8))
	}
}

// The first error of who hears of the changes ends the comparison; what cannot be read is told at
// its end.
func TestErrorsOfComparisons(t *testing.T) {
	enough := errors.New("enough")
	heard := 0
	err := compare.Entries(t.Context(), side(t, file("a.json", `{"a":1,"b":2}`)), side(t, file("b.json", `{"a":2,"b":3}`)), nil, func(compare.Change) error {
		heard++
		return enough
	})
	if !errors.Is(err, enough) || heard != 1 {
		t.Errorf("%d changes, %v", heard, err)
	}
	broken := nodes.Entry{Name: "b", File: nodes.Func(func(context.Context) ([]byte, error) { return nil, fs.ErrPermission })}
	var unreadable *compare.UnreadableError
	for _, pair := range [][2]nodes.Entry{{broken, file("a", "x")}, {file("a", "x"), broken}} {
		if got, err := lines(t, pair[0], pair[1], nil); !errors.As(err, &unreadable) || !errors.Is(err, fs.ErrPermission) || len(got) > 0 {
			t.Errorf("%q, %v", got, err)
		}
	}
	a := treeOf(map[string]string{"header.json": `{"format":"f","n":1}`, "index.json": "{", "players.json": `{"players":[{"dir":"a"}]}`, "ticks/0.json": "1"})
	b := treeOf(map[string]string{"header.json": `{"format":"f","n":2}`, "index.json": "{}", "players.json": `{"players":[{"dir":"b"}]}`, "ticks/0.json": "2"})
	got, err := lines(t, a, b, nil)
	want := []string{
		"changed n 1 2", `removed players[a] {"dir":"a"}`, `added players[b]  {"dir":"b"}`, "changed ticks/0.json   the first tick that differs", "changed ticks/0.json/ 1 2",
	}
	if diff := cmp.Diff(want, got); diff != "" || !errors.As(err, &unreadable) || unreadable.Path != "index.json" {
		t.Errorf("%v\n%s", err, diff)
	}
	envelope := func(points string) nodes.Entry {
		return mapOf(`{"envelopes":[{"name":"e","path":"envelopes/0.json"}]}`, "envelopes/0.json", points)
	}
	if _, err := lines(t, envelope(`{"points":[]}`), envelope(`{"points":[`), nil); !errors.As(err, &unreadable) || unreadable.Path != "envelopes/0.json" {
		t.Errorf("an envelope that is cut: %v", err)
	}
}
