package datafile

import (
	"bytes"
	"strings"
	"testing"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// tilesOf returns tiles.parquet of a tree.
func tilesOf(t *testing.T, root nodes.Dir) nodes.Measured {
	t.Helper()
	e, err := nodes.Lookup(t.Context(), root, "tables/tiles.parquet")
	if err != nil {
		t.Fatal(err)
	}
	return e.File.(nodes.Measured)
}

// TestTilesAreCountedOnce holds that a listing decodes no layer, that the size of tiles.parquet
// decodes all of them, and that the counts serve later mounts as long as the bytes are the same:
// what is kept is replaced by counts of no rows to tell.
func TestTilesAreCountedOnce(t *testing.T) {
	w := smallMap()
	b := w.bytes()
	w.text("more")
	longer := w.bytes()
	disk := store{}
	var want []byte
	for i, c := range []struct {
		b       []byte
		changed int64
		known   bool // to a listing
		counted bool
	}{
		{b, 1, false, true},
		{b, 1, true, false},
		{b, 2, false, false}, // the checksum of the file tells
		{longer, 3, false, true},
	} {
		root, touched := openKept(t, c.b, c.changed, Options{}, disk)
		f := tilesOf(t, root)
		if known := f.IsMeasured(t.Context()); known != c.known {
			t.Errorf("case %d: a listing knows the size: %v", i, known)
		}
		if got := touched.data(mustRead(t, c.b)); got != nil {
			t.Errorf("case %d: a listing reads data %v", i, got)
		}
		size, err := f.Size(t.Context())
		if err != nil || !f.IsMeasured(t.Context()) {
			t.Errorf("case %d: the size is forgotten, %v", i, err)
		}
		file, err := nodes.ReadAll(t.Context(), f)
		if err != nil || int64(len(file)) != size {
			t.Errorf("case %d: %d bytes of %d, %v", i, len(file), size, err)
		}
		if want == nil {
			want = file
		}
		if counted := bytes.Equal(file, want); counted != c.counted {
			t.Errorf("case %d: counted: %v", i, counted)
		}
		forgetRows(t, disk)
	}
}

// forgetRows puts counts of no rows in the place of those that are kept.
func forgetRows(t *testing.T, disk store) {
	t.Helper()
	for name, kept := range disk {
		if strings.Contains(name, "tile-rows-") {
			var was *rowcount.Counter
			r, seal := indexfile.Open(formatName, kept)
			codeTileRows(indexfile.Codec{R: r}, &was)
			none := rowcount.New(tilesColumns)
			for range was.Chunks() - 1 {
				none.NextChunk()
			}
			w := indexfile.NewWriter(seal, 0)
			codeTileRows(indexfile.Codec{W: w}, &none)
			disk[name] = w.Bytes()
			return
		}
	}
	t.Fatal("no counts are kept")
}

// TestTileGroups holds that the rows of a group are those that follow the group before, wherever
// its layers begin, and that a layer that cannot be read has none.
func TestTileGroups(t *testing.T) {
	nodestest.Long(t)
	const width, height = 1000, 600
	full := bytes.Repeat([]byte{1, 0, 0, 0}, width*height)
	w := &mapWriter{}
	w.item(typeVersion, 1)
	layer := func(content []byte) {
		w.item(typeLayer, ints(0, layerTiles, 0, 3, width, height, 0, 255, 255, 255, 255, -1, 0, -1, w.content(content), textInts("", 3))...)
	}
	layer(full)
	layer(full[4:]) // too short
	layer(full)
	w.group("Tiles", 100, 0, 3)
	b := w.bytes()
	rec := formats.Recording{Input: formatstest.BytesInput("test.map", b, testTime), Head: mustRead(t, b).Tables}
	tb := newTree(rec, formatstest.NewCache(t))
	got, err := tb.countTiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	row := 0
	for _, g := range got.Groups() {
		made := columnar.NewBatch(tilesColumns, g)
		if err := tb.fillTiles(t.Context(), made, g.Chunk); err != nil {
			t.Fatal(err)
		}
		layers, xs, ys := made.Columns[0].Int32s, made.Columns[1].Int32s, made.Columns[2].Int32s
		for i := range made.Rows() {
			tile := row % (width * height)
			want := [3]int32{int32(2 * (row / (width * height))), int32(tile % width), int32(tile / width)}
			if got := [3]int32{layers[i], xs[i], ys[i]}; got != want {
				t.Fatalf("row %d is %v, want %v", row, got, want)
			}
			row++
		}
	}
	if row != 2*width*height || row <= columnar.MaxGroupRows {
		t.Errorf("%d rows", row)
	}
}
