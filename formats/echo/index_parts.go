package echo

import (
	"sort"

	"recfs/formats/columnar"
	"recfs/formats/internal/rowcount"
	"recfs/formats/views"
)

// A ChunkInfo is what the index knows of one chunk.
type ChunkInfo struct {
	FirstTick      int64
	Ticks          int   // readable frames
	Offset, Stored int64 // where it lies in the file
	Size           int64 // of its bytes; Unreadable if they cannot be read
	Damaged        bool
	State          []byte // from which its decoder starts, as the format encodes it
	Parts          []Part // which are decoded one by one; most chunks have one

	before int // frames of the chunks before
}

// Unreadable is the Size of a chunk whose bytes cannot be read.
const Unreadable = -1

// A Part is a run of frames of a chunk that is decoded by itself.
type Part struct {
	Skip   int64 // bytes before it that have no frames
	Stored int64 // its bytes in the file
	Frames int
	Pieces []Piece
}

// A Piece is the number of frames in a piece of a part, and its lengths in the views, by their
// numbers.
type Piece struct {
	Frames int
	Sizes  [4]int64
}

// part returns a part in the form of a chunk, with what a decoder needs to know.
func (c *ChunkInfo) part(n int) *ChunkInfo {
	p := &ChunkInfo{FirstTick: c.FirstTick, Offset: c.Offset, State: c.State, Damaged: c.Damaged}
	for _, before := range c.Parts[:n] {
		p.FirstTick += int64(before.Frames)
		p.Offset += before.Skip + before.Stored
	}
	p.Offset += c.Parts[n].Skip
	p.Stored, p.Size, p.Ticks = c.Parts[n].Stored, c.Parts[n].Stored, c.Parts[n].Frames
	return p
}

// partOf returns the part that a frame is in, and its number in that part.
func (c *ChunkInfo) partOf(frame int) (part, i int) {
	for ; part < len(c.Parts)-1 && frame >= c.Parts[part].Frames; part++ {
		frame -= c.Parts[part].Frames
	}
	return part, frame
}

// first returns the first frame of a piece.
func (p *Part) first(piece int) (first int) {
	for _, before := range p.Pieces[:piece] {
		first += before.Frames
	}
	return first
}

// text returns the length of the part as lines of .echoreplay.
func (p *Part) text() (n int64) {
	for _, piece := range p.Pieces {
		n += piece.Sizes[viewText.number]
	}
	return n
}

// place counts the frames before each chunk and the memory of the events. It finds the first and
// the last chunk with frames.
func (x *Index) place() {
	n := 0
	x.firstShown, x.behindShown = 0, 0
	for i := range x.Chunks {
		x.Chunks[i].before = n
		if x.Chunks[i].Ticks > 0 {
			if x.behindShown = i + 1; n == 0 {
				x.firstShown = i
			}
		}
		n += x.Chunks[i].Ticks
	}
	x.eventMemory, x.roster, x.places = 0, nil, map[PlayerKey]int{}
	for i := range x.Events {
		e := &x.Events[i]
		x.eventMemory += e.memory()
		if e.Kind == "join" && e.Player != nil {
			if _, ok := x.places[*e.Player]; !ok {
				x.places[*e.Player] = len(x.roster)
				x.roster = append(x.roster, e.Player)
			}
		}
	}
	x.eventMemory += int64(128 * len(x.roster))
}

// count returns how many chunks there are.
func (x *Index) count() int { return len(x.Chunks) }

// chunkOf returns the last chunk that begins at or before a tick, -1 if none does.
func (x *Index) chunkOf(tick int64) int {
	return sort.Search(len(x.Chunks), func(i int) bool { return x.Chunks[i].FirstTick > tick }) - 1
}

// listed returns the chunk of the i-th readable frame, and the number of the frame in it.
func (x *Index) listed(i int) (chunk, frame int) {
	n := sort.Search(len(x.Chunks), func(n int) bool { return x.Chunks[n].before > i }) - 1
	return n, i - x.Chunks[n].before
}

// numbers are the readable frames.
func (x *Index) numbers() views.Numbers {
	return views.Numbers{
		N: int(x.Ticks),
		Number: func(i int) int64 {
			n, frame := x.listed(i)
			return x.Chunks[n].FirstTick + int64(frame)
		},
		Search: func(tick int64) int {
			n := x.chunkOf(tick)
			if n < 0 {
				return 0
			}
			c := &x.Chunks[n]
			return c.before + int(min(tick-c.FirstTick, int64(c.Ticks)))
		},
	}
}

// run returns the listed frames of the piece that has the i-th.
func (x *Index) run(i int) (first, end int) {
	n, frame := x.listed(i)
	part, at := x.Chunks[n].partOf(frame)
	for _, p := range x.Chunks[n].Parts[part].Pieces {
		if at < p.Frames {
			return i - at, i - at + p.Frames
		}
		at -= p.Frames
	}
	return i, i + 1 // which soundness rules out
}

// eventGroups counts the events.
func (x *Index) eventGroups() []columnar.Group {
	c, chunk := rowcount.New(eventsColumns), 0
	for i := range x.Events {
		for chunk+1 < len(x.Chunks) && x.Chunks[chunk+1].FirstTick <= x.Events[i].Tick {
			chunk++
			c.EndChunk()
		}
		x.Events[i].row(c.Batch)
		c.EndRow()
	}
	return c.Groups()
}

// eventRows adds the events from a chunk on, until b is full.
func (x *Index) eventRows(b *columnar.Batch, chunk int) {
	first := x.Chunks[chunk].FirstTick
	for i := sort.Search(len(x.Events), func(i int) bool { return x.Events[i].Tick >= first }); i < len(x.Events) && !b.Full(); i++ {
		x.Events[i].row(b)
	}
}
