package hcrp

import (
	"cmp"
	"context"
	"math"
)

// run returns the listed ticks of the stretch that has the i-th. They are played from one
// checkpoint.
func (x *index) run(i int) (first, end int) {
	number := x.rangeOf(x.ticks.number(int64(i)))
	if number < 0 {
		return i, i + 1
	}
	k := x.stretch(number)
	return int(x.ticks.search(x.ranges[x.first(k)].First)), int(x.ticks.search(x.ranges[x.first(k+1)-1].Last + 1))
}

// rangesOf returns the tick ranges of a run of listed ticks.
func (x *index) rangesOf(first, end int) (begin, behind int) {
	begin, last := x.rangeOf(x.ticks.number(int64(first))), x.rangeOf(x.ticks.number(int64(end-1)))
	if begin < 0 || last < 0 {
		return 0, 0
	}
	return begin, last + 1
}

// eachTick calls fn for the ticks of a run with their compact JSON.
func (t *playback) eachTick(ctx context.Context, first, end int, fn func(i int, compact []byte) error) error {
	x := t.index
	begin, behind := x.rangesOf(first, end)
	for number := begin; number < behind; number++ {
		r := &x.ranges[number]
		if r.Hole {
			continue
		}
		c, err := t.decode(ctx, int(r.Chunk))
		if err != nil {
			return err
		}
		for tick := range c.between(r.First, r.Last) {
			i, listed := x.ticks.find(tick.n)
			if !listed {
				continue
			}
			if err := fn(int(i), c.bytes(tick.line)); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachState plays the stretch of a run once, and calls fn for the states of the run with their
// compact JSON.
func (t *playback) eachState(ctx context.Context, first, end int, fn func(i int, compact []byte) error) error {
	x := t.index
	begin, behind := x.rangesOf(first, end)
	if begin == behind {
		return nil
	}
	w := &stateWalk{ticks: x.ticks, end: end, fn: fn}
	err := t.walk(ctx, begin, behind, func(p *replay) observer {
		w.replay = p
		return w
	}, func() bool { return w.err == nil })
	return cmp.Or(err, w.err)
}

// A stateWalk is an observer that makes the states of listed ticks. A tick in which nothing
// happened has the world of the one before.
type stateWalk struct {
	replay *replay
	ticks  runs
	end    int // of the run
	fn     func(i int, compact []byte) error
	err    error

	chunk int32
	at    int   // the next state
	next  int64 // its tick
	known bool  // world is that of the ticks from here on
	world []byte
	doc   []byte
}

// begin implements observer.
func (w *stateWalk) begin(s *tickRange, _ *chunk) {
	w.chunk, w.known = s.Chunk, false
	w.goTo(int(w.ticks.search(s.First)))
}

func (w *stateWalk) goTo(i int) {
	w.at, w.next = i, math.MaxInt64
	if i < w.end {
		w.next = w.ticks.number(int64(i))
	}
}

// event implements observer.
func (w *stateWalk) event(*tick, int, bool) {}

// tick implements observer.
func (w *stateWalk) tick(n int64) {
	for ; w.next < n; w.goTo(w.at + 1) {
		if w.known && w.err == nil {
			w.doc = append(appendStateHead(w.doc[:0], w.next, w.chunk), w.world...)
			w.err = w.fn(w.at, w.doc)
		}
	}
	if w.known = w.replay.world != nil; w.known && w.next < math.MaxInt64 {
		w.world = w.replay.world.appendState(w.world[:0])
	}
}
