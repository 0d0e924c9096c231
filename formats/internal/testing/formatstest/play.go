package formatstest

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"recfs/formats"
	"recfs/nodes"
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
	for _, at := range blocks(a) {
		number, step := at[0], at[1]
		b, err := r.Frames(t.Context(), number, int(step))
		if err != nil {
			t.Fatalf("block %d, step %d: %v", number, step, err)
		}
		begin := number * step * play.FramesPerBlock(a.Kind)
		first := (max(begin, *a.First) + step - 1) / step * step
		last := min(begin+step*play.FramesPerBlock(a.Kind)-1, *a.Last)
		if want := int(max(0, last-first+step) / step); b.First != first || b.Frames != want {
			t.Errorf("block %d, step %d: %d frames from %d on, want %d from %d on", number, step, b.Frames, b.First, want, first)
		}
		checkBlock(t, b, max(begin, *a.First), last)
		for i := range b.Frames {
			fn(b, i, b.First+int64(i)*step)
		}
	}
	for _, far := range []int64{-1, *a.Last + 1, 1 << 55, math.MaxInt64} {
		if _, err := r.Frames(t.Context(), far, 1); !errors.Is(err, play.BadParameter("block")) {
			t.Errorf("block %d: %v", far, err)
		}
	}
}

// blocks are the numbers of all blocks of a recording and their steps. Where a recording leaps over
// months there are millions of them: it has some of those of the leap.
func blocks(a *play.About) (list [][2]int64) {
	const most, near, many = 1 << 12, 16, 32
	for step := int64(1); step <= 64; step *= 2 {
		if !play.IsStep(a.Kind, int(step)) {
			continue
		}
		size := step * play.FramesPerBlock(a.Kind)
		first, last := *a.First/size, *a.Last/size
		for n := first; n <= last; n++ {
			list = append(list, [2]int64{n, step})
			if last-first > most && near < n-first && n < last-near {
				n = min(n+(last-first)/many, last-near)
			}
		}
	}
	return list
}

// Try plays some of a recording, if it plays: whatever is wrong with it, that comes to an end.
func Try(ctx context.Context, dir nodes.Dir) {
	p, ok := dir.(play.Recording)
	if !ok {
		return
	}
	a, err := p.About(ctx)
	if err != nil || a.First == nil {
		return
	}
	for step := int64(1); step <= 64; step *= 2 {
		for _, tick := range []int64{*a.First, *a.Last} {
			p.Frames(ctx, tick/step/play.FramesPerBlock(a.Kind), int(step))
		}
	}
	p.Events(ctx, play.Query{From: *a.First, Limit: 10, Words: "a"})
	p.Events(ctx, play.Query{From: *a.Last, Limit: 10, Back: true})
	p.Players(ctx, "", 0, 10)
}

// Alone holds all blocks of a recording to those of another opening of it of which each is made
// before the one before it: they are the same, from wherever their Player began.
func Alone(t testing.TB, r, other play.Recording) {
	t.Helper()
	a, err := r.About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a.First == nil {
		return
	}
	for _, at := range slices.Backward(blocks(a)) {
		b, err := r.Frames(t.Context(), at[0], int(at[1]))
		if err != nil {
			t.Fatal(err)
		}
		alone, err := other.Frames(t.Context(), at[0], int(at[1]))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(alone, b) {
			t.Errorf("block %d, step %d is another one if it is made before that in front of it", at[0], at[1])
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

// PlaysOnce holds a format to decoding a recording once when it is played from its start: not many
// more bytes of it are read than the chunks have.
func PlaysOnce(t *testing.T, format formats.Format, name string, b []byte, chunks int64) {
	t.Helper()
	read := &countedReads{ReaderAt: formats.BytesReader(b)}
	in := BytesInput(name, b, time.Unix(1e9, 0))
	in.ReaderAt = read
	dir, err := Open(t.Context(), format, in, NewCache(t))
	if err != nil {
		t.Fatal(err)
	}
	p := dir.(play.Recording)
	a, err := p.About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	read.n.Store(0)
	for n := *a.First / play.FramesPerBlock(a.Kind); n*play.FramesPerBlock(a.Kind) <= *a.Last; n++ {
		if _, err := p.Frames(t.Context(), n, 1); err != nil {
			t.Fatal(err)
		}
	}
	if n := read.n.Load(); 10*n > 13*chunks {
		t.Errorf("%d bytes are read of chunks of %d", n, chunks)
	}
}

// countedReads counts the bytes that are read.
type countedReads struct {
	formats.ReaderAt
	n atomic.Int64
}

// ReadAt implements formats.ReaderAt.
func (r *countedReads) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(ctx, p, off)
	r.n.Add(int64(n))
	return n, err
}
