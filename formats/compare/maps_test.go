package compare_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recfs/formats/compare"
	"recfs/nodes"
	"recfs/nodes/nodestest"
	"recfs/nodes/play"
)

// A tile is one that differs.
type tile struct {
	layer string
	x, y  int
}

// checkMaps compares what Maps says of two maps with what Entries says of them.
func checkMaps(t *testing.T, a, b nodes.Entry) *play.MapDiff {
	t.Helper()
	x, y := side(t, a), side(t, b)
	diff, err := compare.Maps(t.Context(), x, y)
	if err != nil {
		t.Fatal(err)
	}
	want, marked := map[string]int{}, map[tile]bool{}
	var layers, images, settings []string
	entriesErr := compare.Entries(t.Context(), x, y, func(layer string, x, y int, _, _ string) {
		marked[tile{layer, x, y}] = true
	}, func(c compare.Change) error {
		part := c.Path
		if at := strings.LastIndex(part, "."); at > 0 {
			part = part[:at]
		}
		switch {
		case strings.HasPrefix(part, "layers/"):
			layers = append(layers, part)
			if c.Tiles != nil {
				want[part] = c.Tiles.Count
			}
		case strings.HasPrefix(part, "images/"):
			images = append(images, strings.TrimPrefix(part, "images/"))
		case strings.HasPrefix(c.Path, "info.settings"):
			settings = append(settings, string(c.Kind)+" "+strings.Trim(string(c.Old)+string(c.New), `"`))
		}
		return nil
	})
	if (entriesErr != nil) != (len(diff.Errors) > 0) {
		t.Errorf("%q cannot be read, diff says %v", diff.Errors, entriesErr)
	}
	got, told := map[string]int{}, map[tile]bool{}
	for _, l := range diff.Layers {
		name := partOf(x, y, l)
		if l.Differing > 0 {
			got[name] = l.Differing
		}
		if l.Changed == (len(layers) == 0 || !strings.Contains(strings.Join(layers, "\n"), name)) {
			t.Errorf("%s: changed is %v, diff says %q", name, l.Changed, layers)
		}
		for _, run := range l.Runs {
			for i := range run[2] {
				told[tile{name, run[0] + i, run[1]}] = true
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("tiles: %s", d)
	}
	if d := cmp.Diff(fmt.Sprint(len(marked), marked), fmt.Sprint(len(told), told)); d != "" {
		t.Errorf("places: %s", d)
	}
	if len(images) > 0 != (len(diff.Images) > 0) || len(settings) != len(diff.Settings) {
		t.Errorf("%v and %v, diff says %q and %q", diff.Images, diff.Settings, images, settings)
	}
	return diff
}

// partOf returns the name that diff has for a layer.
func partOf(x, y compare.Side, l play.LayerDiff) string {
	s, index := x, l.A
	if index == nil {
		s, index = y, l.B
	}
	for _, list := range s.Lists {
		if len(list) > *index && strings.HasPrefix(list[0].Name, "layers/") {
			return list[*index].Name
		}
	}
	return ""
}

// Maps says what diff says, of samples and of maps that differ in all ways.
func TestMapsAsValues(t *testing.T) {
	a, b := maps(t)
	diff := checkMaps(t, a, b)
	if n := diff.Layers[1]; n.Kind == "" || n.Width != 48 || *n.A != 1 || *n.B != 1 {
		t.Errorf("%+v", n)
	}
	if d := cmp.Diff([]play.LineDiff{{Line: "sv_deepfly 0", What: "added"}}, diff.Settings); d != "" || diff.Other != 1 {
		t.Errorf("%s, %d other differences", d, diff.Other)
	}
	checkMaps(t, b, a)
	if same := checkMaps(t, a, a); len(same.Images)+len(same.Settings)+same.Other > 0 || len(same.Layers) == 0 {
		t.Errorf("a map differs from itself: %+v", same)
	}
	for _, pair := range [][2]nodes.Entry{
		{layerOf("tiles", 7, "1 1", "1 1"), layerOf("tiles", 7, "1 1 5")},
		{layerOf("tiles", 7, "1 1"), layerOf("game", 7, "1 2")},
		{layerOf("game", 7, "1"), layerOf("game", 7, "1 .", ". 3")},
		{layerOf("game", 7, "1"), mapOf(`{"layers":[{"kind":"game","width":2,"height":1,"path":"l/0"}]}`, "l/0.txt", "1\n")},
		{mapOf(`{"info":{"settings":["a","b"]},"images":[{"name":"x","width":1}]}`), mapOf(`{"info":{"settings":["a","c"]},"images":[{"name":"x","width":2}]}`)},
	} {
		checkMaps(t, pair[0], pair[1])
		checkMaps(t, pair[1], pair[0])
	}
	none := mapOf(`{"info":null}`)
	for _, c := range []struct {
		a, b nodes.Entry
		want []play.LineDiff
	}{
		{mapOf(`{"info":{"settings":["a","b"]}}`), mapOf(`{"info":{"settings":["a","c"]}}`), []play.LineDiff{{Line: "c", What: "changed", Was: "b"}}},
		{none, mapOf(`{"info":{"settings":["a"]}}`), []play.LineDiff{{Line: "a", What: "added"}}},
		{mapOf(`{"info":{"settings":["a"]}}`), none, []play.LineDiff{{Line: "a", What: "removed"}}},
		{none, mapOf(`{"info":{"settings":null}}`), []play.LineDiff{}},
	} {
		got, err := compare.Maps(t.Context(), side(t, c.a), side(t, c.b))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, got.Settings); d != "" {
			t.Error(d)
		}
	}
}

// Runs are bounded, of a layer and of all; tiles are counted all the same. A comparison ends when
// nobody waits for it.
func TestBoundsOfMaps(t *testing.T) {
	const side2 = 250 // 31,250 tiles, none beside another
	rows := func(empty bool) (all []string) {
		for y := range side2 {
			row := make([]string, side2)
			for x := range row {
				if row[x] = "."; !empty && (x+y)%2 == 0 {
					row[x] = "1"
				}
			}
			all = append(all, strings.Join(row, " "))
		}
		return all
	}
	many := func(empty bool) nodes.Entry {
		one := layerOf("tiles", 2, rows(empty)...)
		grid, err := nodes.Lookup(t.Context(), one.Dir, "l/0.txt")
		if err != nil {
			t.Fatal(err)
		}
		text, err := nodes.ReadAll(t.Context(), grid.File)
		if err != nil {
			t.Fatal(err)
		}
		layer := fmt.Sprintf(`{"kind":"tiles","width":%d,"height":%d,"path":"l/0"}`, side2, side2)
		return mapOf(`{"layers":[`+strings.Repeat(layer+",", 6)+layer+`]}`, "l/0.txt", string(text))
	}
	a, b := side(t, many(true)), side(t, many(false))
	diff, err := compare.Maps(t.Context(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for i, l := range diff.Layers {
		if l.Differing != side2*side2/2 || len(l.Runs)+l.More != l.Differing || len(l.Runs) > 20_000 || i == 0 && len(l.Runs) != 20_000 {
			t.Errorf("layer %d: %d tiles, %d runs and %d more", i, l.Differing, len(l.Runs), l.More)
		}
		runs += len(l.Runs)
	}
	if runs != 100_000 || len(diff.Layers) != 7 {
		t.Errorf("%d runs of %d layers", runs, len(diff.Layers))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := compare.Maps(ctx, a, b); !errors.Is(err, context.Canceled) {
		t.Errorf("%v when nobody waits", err)
	}
	if _, err := compare.Maps(t.Context(), a, compare.Side{Entry: b.Entry}); !errors.Is(err, compare.ErrNothing) {
		t.Errorf("%v for what is no map", err)
	}
}

// As many layers as a map may have are compared in a moment.
func TestManyLayers(t *testing.T) {
	nodestest.Long(t)
	many := func(n, first int) nodes.Entry {
		var page strings.Builder
		for i := range n {
			fmt.Fprintf(&page, `,{"index":%d,"kind":"unknown","name":"%d"}`, i, first+i)
		}
		return mapOf(`{"layers":[` + page.String()[1:] + `]}`)
	}
	diff, err := compare.Maps(t.Context(), side(t, many(65_000, 0)), side(t, many(65_000, 1)))
	if err != nil || len(diff.Layers) != 65_001 {
		t.Fatal(len(diff.Layers), err)
	}
	if last := diff.Layers[65_000]; last.A != nil || *last.B != 64_999 || last.Name != "65000" || !last.Changed || diff.Layers[5].Changed {
		t.Errorf("%+v", last)
	}
}
