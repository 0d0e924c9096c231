package formatstest

import (
	"testing"

	"recfs/nodes/play"
)

// Frames calls fn for every frame of every block of a recording, at every step, and holds blocks to
// what package play says of them.
func Frames(t testing.TB, r play.Recording, fn func(b *play.Block, i int, tick int64)) {
	t.Helper()
	a, err := r.About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a.First == nil {
		return
	}
	for step := int64(1); step <= 64; step *= 2 {
		if !play.IsStep(a.Kind, int(step)) {
			continue
		}
		for n := *a.First / (step * play.FramesPerBlock(a.Kind)); n*step*play.FramesPerBlock(a.Kind) <= *a.Last; n++ {
			b, err := r.Frames(t.Context(), n, int(step))
			if err != nil {
				t.Fatalf("block %d, step %d: %v", n, step, err)
			}
			begin := n * step * play.FramesPerBlock(a.Kind)
			first := (max(begin, *a.First) + step - 1) / step * step
			last := min(begin+step*play.FramesPerBlock(a.Kind)-1, *a.Last)
			if want := int((last - first + step) / step); b.First != first || b.Frames != want {
				t.Errorf("block %d, step %d: %d frames from %d on, want %d from %d on", n, step, b.Frames, b.First, want, first)
			}
			checkBlock(t, b, max(begin, *a.First), last)
			for i := range b.Frames {
				fn(b, i, b.First+int64(i)*step)
			}
		}
	}
}

// checkBlock holds a block to its columns being as long as they are to be, and events to its ticks.
func checkBlock(t testing.TB, b *play.Block, first, last int64) {
	t.Helper()
	for _, track := range b.Tracks {
		if track.At < 0 || track.N <= 0 || track.At+track.N > b.Frames {
			t.Errorf("track %s has %d frames from %d on, of %d", track.ID, track.N, track.At, b.Frames)
		}
		for _, column := range [][]int32{track.X, track.Y, track.Z, track.A, track.S} {
			if column != nil && len(column) != track.N {
				t.Errorf("track %s has a column of %d of %d frames", track.ID, len(column), track.N)
			}
		}
	}
	lengths := []int{len(b.MS)}
	if g := b.Game; g != nil {
		lengths = append(lengths, len(g.Clock), len(g.Blue), len(g.Orange), len(g.Status))
	}
	if s := b.Screen; s != nil {
		lengths = append(lengths, len(s.Ticks), len(s.Turns), len(s.Rows), len(s.Plain))
	}
	for i, n := range lengths {
		if n != b.Frames && (i > 0 || b.MS != nil) {
			t.Errorf("%d values of %d frames", n, b.Frames)
		}
	}
	at := first
	for _, e := range b.Events {
		if e.Tick < at || e.Tick > last {
			t.Errorf("an event at %d, behind one at %d, of ticks %d to %d", e.Tick, at, first, last)
		}
		at = e.Tick
	}
}

// At returns the tracks of those who are there at a frame, and which frame of theirs it is.
func At(b *play.Block, frame int) (tracks []*play.Track, at []int) {
	for i := range b.Tracks {
		if t := &b.Tracks[i]; t.At <= frame && frame < t.At+t.N {
			tracks, at = append(tracks, t), append(at, frame-t.At)
		}
	}
	return tracks, at
}
