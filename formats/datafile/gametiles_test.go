package datafile

import (
	"slices"
	"testing"
)

func TestOutline(t *testing.T) {
	w := &mapWriter{}
	w.item(typeVersion, 1)
	if _, err := Outline(t.Context(), w.bytes()); err == nil {
		t.Error("a map without layers has an outline")
	}
	w.tileLayer("Game", 3, 2, 1, -1, []byte{1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0})
	w.group("Game", 100, 0, 1)
	m, err := Outline(t.Context(), w.bytes())
	if err != nil {
		t.Fatal(err)
	}
	if want := []bool{true, false, true, false, false, true}; m.Width != 3 || m.Height != 2 || !slices.Equal(m.Solid, want) {
		t.Errorf("%dx%d tiles: %v", m.Width, m.Height, m.Solid)
	}
}
