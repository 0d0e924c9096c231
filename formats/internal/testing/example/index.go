package example

import (
	"sort"

	"recfs/formats"
	"recfs/formats/internal/rowcount"
	"recfs/formats/views"
)

var _ formats.Index = (*index)(nil)

// What an index has at most. A hostile log gives many ticks for a byte, as its chunks are packed.
const (
	maxChunks   = 1 << 16
	maxTicks    = 1 << 20 // before the last chunk
	maxProblems = 1000    // of chunks that are listed
)

// How a log ends.
const (
	endFinished   = "finished"   // with the frame that ends it
	endUnfinished = "unfinished" // between two frames
	endCut        = "cut"        // in a frame
	endDamaged    = "damaged"    // where the pass ended
)

// An index is what one pass learns of a log. Nothing in it depends on where the bytes end.
type index struct {
	chunks   []chunk
	ticks    []int64    // at which a score changed
	scores   []standing // after the last record
	problems []formats.Problem
	rows     *rowcount.Counter // of the table changes
	reach    int64             // where the next frame begins
	ended    bool              // there is none: that was the end
	broken   bool              // there is none: the last was impossible, or one too many
}

// A chunk is what the index knows of a chunk.
type chunk struct {
	frame
	first   int // of its ticks, in those of the index
	records int
	lines   int64 // bytes of lines/N.jsonl
	damaged bool  // it does not inflate, or a record does not decode
}

// ending returns the word for how a log of so many bytes ends.
func (x *index) ending(size int64) string {
	switch {
	case x.ended:
		return endFinished
	case x.broken:
		return endDamaged
	case x.reach < size:
		return endCut
	}
	return endUnfinished
}

// Reach is where the next frame begins. A frame that ends the pass is before it, whole: so a pass
// that goes on finds nothing new.
func (x *index) Reach(string) int64 { return x.reach }

// Memory is about what the index keeps alive.
func (x *index) Memory() int64 {
	return int64(1024+8*cap(x.ticks)+80*cap(x.chunks)+256*len(x.problems)+512*len(x.scores)) + x.rows.Cost()
}

// count returns how many chunks there are.
func (x *index) count() int { return len(x.chunks) }

// last returns the last tick, 0 if there is none.
func (x *index) last() int64 { return max(x.least(len(x.ticks))-1, 0) }

// least returns the first tick that a chunk may have after so many ticks: no tick is in two chunks.
func (x *index) least(before int) int64 {
	if before == 0 {
		return 0
	}
	return x.ticks[before-1] + 1
}

// numbers are the ticks at which a score changed.
func (x *index) numbers() views.Numbers {
	return views.Numbers{N: len(x.ticks), Number: func(i int) int64 { return x.ticks[i] }}
}

// chunkOf returns the chunk that tells of a tick: the last with a listed tick at or before it, or
// between two such chunks the one that is lost there.
func (x *index) chunkOf(tick int64) int {
	i := max(sort.Search(len(x.ticks), func(i int) bool { return x.ticks[i] > tick })-1, 0)
	n := x.chunkAt(i)
	if next := n + 1; next < len(x.chunks) && x.chunks[next].first == i+1 && x.chunks[next].records == 0 && tick > x.ticks[i] {
		return next
	}
	return n
}

// chunkAt returns the chunk of the i-th listed tick.
func (x *index) chunkAt(i int) int {
	return sort.Search(len(x.chunks), func(n int) bool { return x.chunks[n].first > i }) - 1
}

// endOf returns the first listed tick that is in a chunk after this one.
func (x *index) endOf(n int) int {
	if n+1 == len(x.chunks) {
		return len(x.ticks)
	}
	return x.chunks[n+1].first
}

// together returns the listed ticks of the chunk that the i-th is in.
func (x *index) together(i int) (first, end int) {
	n := x.chunkAt(i)
	return x.chunks[n].first, x.endOf(n)
}
