package example

import (
	"sort"

	"recfs/formats"
	"recfs/formats/internal/rowcount"
	"recfs/formats/views"
)

var _ formats.Index = (*index)(nil)

const (
	// chunkLines is how many lines a chunk has. They are few enough to be read for one tick. The index
	// keeps the scores of up to maxPlayers with each chunk: with as many lines it is no longer than an
	// ordinary log.
	chunkLines = 1024
	maxPlayers = 256

	maxProblems = 1000 // that are listed
)

// How a log ends.
const (
	endClean     = "clean"     // with its end line
	endTruncated = "truncated" // before that
)

// An index is what one pass learns of a log.
type index struct {
	chunks   []chunk           // the last one may get more lines
	ticks    []int64           // at which a score changed
	scores   map[string]int32  // after the last line
	problems []formats.Problem // of lines that are none
	rows     *rowcount.Counter // of the table scores
	reach    int64             // where the last whole line ends
	last     int64             // tick of the last line
	ended    bool
}

// A chunk is a run of lines.
type chunk struct {
	offset, end int64 // in the file
	first       int64 // tick of the first line
	lines       int
	size        int64            // of lines/N.jsonl
	before      map[string]int32 // the scores before it
}

// ending returns the word for how the log ends.
func (x *index) ending() string {
	if x.ended {
		return endClean
	}
	return endTruncated
}

// Reach is where the last whole line ends: what follows is read again when the log has grown.
func (x *index) Reach(string) int64 { return x.reach }

// Memory is about what the index keeps alive: a chunk has a copy of all scores.
func (x *index) Memory() int64 {
	const player = 64 // in a map
	return int64(1024+8*len(x.ticks)+128*len(x.problems)+(len(x.chunks)+1)*(96+player*len(x.scores))) + x.rows.Cost()
}

// count returns how many chunks there are.
func (x *index) count() int { return len(x.chunks) }

// numbers are the ticks at which a score changed.
func (x *index) numbers() views.Numbers {
	return views.Numbers{N: len(x.ticks), Number: func(i int) int64 { return x.ticks[i] }}
}

// chunkOf returns the last chunk that begins at or before a tick, -1 if none does.
func (x *index) chunkOf(tick int64) int {
	return sort.Search(len(x.chunks), func(i int) bool { return x.chunks[i].first > tick }) - 1
}

// run returns the listed ticks of the chunk that the i-th is in.
func (x *index) run(i int) (first, end int) {
	n := x.chunkOf(x.ticks[i])
	from := func(tick int64) int { return sort.Search(len(x.ticks), func(i int) bool { return x.ticks[i] >= tick }) }
	if n+1 == len(x.chunks) {
		return from(x.chunks[n].first), len(x.ticks)
	}
	return from(x.chunks[n].first), from(x.chunks[n+1].first)
}
