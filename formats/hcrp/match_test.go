package hcrp

import (
	"slices"
	"testing"
)

func TestMatchDir(t *testing.T) {
	for _, c := range []struct {
		preamble string
		names    []string
		want     bool
	}{
		{"HCRP\x00\x04", []string{"preamble.dat"}, true},
		{"", []string{"preamble.dat", "segment-000.dat"}, true},
		{"zeroes", []string{"preamble.dat", "segment-1000.dat"}, true},
		{"", []string{"preamble.dat"}, false},
		{"% of a book", []string{"preamble.dat", "segment-1.dat", "segments.dat"}, false},
	} {
		if got := matchDir([]byte(c.preamble), slices.Values(c.names)); got != c.want {
			t.Errorf("a preamble %q beside %q: %v, want %v", c.preamble, c.names, got, c.want)
		}
	}
}
