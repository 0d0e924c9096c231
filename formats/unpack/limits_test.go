package unpack

import (
	"errors"
	"testing"

	"recfs/formats"
)

// Which files are refused for what they expand to.
func TestBombs(t *testing.T) {
	for _, c := range []struct {
		out, stored int64
		refused     bool
	}{
		{0, 0, false},
		{bombSize, 0, false},
		{bombSize + 1, 0, true},
		{1e9, 1e6, false},
		{1e9 + 1000, 1e6, true},
		{maxExpanded, maxExpanded, false},
		{maxExpanded + 1, maxExpanded, true},
	} {
		if err := bomb(c.out, c.stored); (err != nil) != c.refused || err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%d bytes from %d: %v", c.out, c.stored, err)
		}
	}
}

// How many bytes a file may give to be held whole: 64 for each of its own, up to the share of the
// cache.
func TestMaxInflated(t *testing.T) {
	for _, c := range [][3]int64{{1 << 20, 0, frameSize}, {1 << 20, 100, frameSize + 6400}, {1 << 20, 1 << 20, 1 << 20}, {100, 1 << 40, 100}} {
		if got := maxInflated(c[0], c[1]); got != c[2] {
			t.Errorf("%d of %d bytes, want %d", got, c[1], c[2])
		}
	}
}

// A frame has room for what a member should give and one byte more, and keeps no room that it does
// not need.
func TestFrames(t *testing.T) {
	for size, want := range map[int64]int{0: 1, 100: 101, frameSize - 1: frameSize, frameSize: frameSize, formats.UnknownSize: frameSize, 1 << 40: frameSize} {
		if b := frameFor(size); cap(b) != want || len(b) > 0 {
			t.Errorf("%d bytes: room for %d, want %d", size, cap(b), want)
		}
	}
	for _, n := range []int{0, 1, 100, frameSize - 2, frameSize - 1, frameSize} {
		b := newFrame()[:n]
		for i := range b {
			b[i] = byte(i)
		}
		got := kept(b)
		if len(got) != n || cap(got) > n+1 && cap(got) != cap(make([]byte, n)) {
			t.Errorf("%d bytes kept with room for %d", len(got), cap(got))
		}
		for i := range got {
			if got[i] != byte(i) {
				t.Fatalf("byte %d of %d is %d", i, n, got[i])
			}
		}
	}
}
