package datafile

import (
	"testing"

	"recfs/formats"
)

func TestGameTiles(t *testing.T) {
	open := func(w *mapWriter) *Reader {
		f := w.bytes()
		r, err := NewReader(t.Context(), formats.BytesReader(f), int64(len(f)))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	w := &mapWriter{}
	w.item(typeVersion, 1)
	if _, err := open(w).GameTiles(t.Context()); err == nil {
		t.Error("a map without layers has game tiles")
	}
	w.tileLayer("Game", 3, 2, 1, -1, []byte{1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0})
	w.group("Game", 100, 0, 1)
	tiles, err := open(w).GameTiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if tiles.Width != 3 || tiles.Height != 2 {
		t.Errorf("%dx%d tiles", tiles.Width, tiles.Height)
	}
	for i, want := range []byte{1, 0, 3, 2, 0, 1} {
		if got := tiles.Index(i); got != want {
			t.Errorf("tile %d is %d, want %d", i, got, want)
		}
	}
}
