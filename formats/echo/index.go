package echo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/rowcount"
	"recfs/formats/views"
)

// How a file ends (docs/tree/butter.md section 3).
const (
	EndClean     = "clean"          // where its last chunk does
	EndTruncated = "truncated"      // before that: what a recorder writes when it is done is missing
	EndTrailing  = "trailing_bytes" // after that
)

// CodeChecksum is the problem of a text that is not the one its archive has the CRC-32 of.
const CodeChecksum = "checksum"

// An Index is what one pass over a recording learns of it.
type Index struct {
	End      string // EndClean, EndTruncated or EndTrailing
	Bytes    int64  // of the file
	Chunks   []ChunkInfo
	Problems []formats.Problem
	Results
	CRC             uint32 // of the text of .echoreplay
	Events          []Event
	Frames, Players *rowcount.Counter
	Tail            []byte // see Resume; nil: nothing can follow the chunks
	Open            any    // what a pass left open for the pass that goes on from it; not saved

	eventMemory             int64
	firstShown, behindShown int               // the first chunk with frames, and the one behind the last
	places                  map[PlayerKey]int // of players in the results
}

var _ formats.Index = (*Index)(nil)

// A newPart is a part of a chunk whose lengths are being measured, and what it tells of the chunk.
type newPart struct {
	ChunkInfo
	Part
	continues bool // the part belongs to the chunk before
	crc       uint32
}

// add takes a part of the next chunk, or of the last one.
func (x *Index) add(p *newPart) {
	if !p.continues {
		x.Chunks = append(x.Chunks, p.ChunkInfo)
	}
	c := &x.Chunks[len(x.Chunks)-1]
	if p.continues {
		c.Stored += p.ChunkInfo.Stored
		c.Size += p.Size
		c.Damaged = c.Damaged || p.Damaged
	}
	c.Ticks += p.Frames
	if !p.continues || p.ChunkInfo.Stored > 0 || p.Frames > 0 {
		c.Parts = append(c.Parts, p.Part)
	}
}

// Memory returns about how much memory the index keeps.
func (x *Index) Memory() int64 {
	n := int64(256*len(x.Played)+len(x.Tail)) + x.eventMemory + 4096 + x.Frames.Cost() + x.Players.Cost()
	for i := range x.Chunks {
		c := &x.Chunks[i]
		n += 256 + int64(len(c.State)) + 48*int64(len(c.Parts))
		for i := range c.Parts {
			n += 256 * int64(len(c.Parts[i].Pieces))
		}
	}
	return n
}

// Reach is everything that was read: a chunk that is not whole yet is in the index, too.
func (x *Index) Reach(string) int64 { return x.Bytes }

type (
	totals struct {
		Ticks   int64           `json:"ticks"`
		Chunks  int             `json:"chunks"`
		Damaged int             `json:"damaged_chunks"`
		Bones   int64           `json:"bones_ticks"`
		First   json.RawMessage `json:"first_time"`
		Last    json.RawMessage `json:"last_time"`
	}
	chunkRow struct {
		Chunk  int    `json:"chunk"`
		First  *int64 `json:"first_tick"`
		Last   *int64 `json:"last_tick"`
		Ticks  int    `json:"ticks"`
		Offset int64  `json:"offset"`
		Stored int64  `json:"stored"`
		Size   *int64 `json:"size"`
	}
)

// document is index.json.
func (x *Index) document(format string) *formats.IndexDocument[totals, chunkRow] {
	doc := &formats.IndexDocument[totals, chunkRow]{
		IndexHead: formats.IndexHead{Format: format, Finished: x.End != EndTruncated, End: x.End},
		Totals:    totals{Ticks: x.Ticks, Chunks: len(x.Chunks), Bones: x.BonesTicks},
		Chunks:    make([]chunkRow, len(x.Chunks)), Problems: append([]formats.Problem{}, x.Problems...),
	}
	if x.Ticks > 0 {
		doc.Totals.First, doc.Totals.Last = AppendTime(nil, x.First), AppendTime(nil, x.Last)
	}
	for i := range x.Chunks {
		c := &x.Chunks[i]
		v := chunkRow{Chunk: i, Ticks: c.Ticks, Offset: c.Offset, Stored: c.Stored}
		if c.Ticks > 0 {
			v.First, v.Last = &c.FirstTick, new(c.FirstTick+int64(c.Ticks)-1)
		}
		if c.Size != Unreadable {
			v.Size = &c.Size
		}
		if c.Damaged {
			doc.Totals.Damaged++
		}
		doc.Chunks[i] = v
	}
	doc.Complete = doc.Totals.Damaged == 0 && x.End != EndTruncated && !x.mismatched()
	return doc
}

// Summarize adds to a summary what the index tells of the recording (docs/tree/README.md section
// 3), but for its players, which a header may tell, too.
func (x *Index) Summarize(format string, s *formats.Summary) {
	doc := x.document(format)
	s.Ticks, s.Chunks, s.Complete, s.Finished, s.End, s.Problems = new(x.Ticks), len(x.Chunks), doc.Complete, doc.Finished, doc.End, slices.Values(doc.Problems)
	if x.hasDates() {
		start := time.UnixMilli(x.First).UTC()
		s.Start, s.Duration = &start, new(time.Duration(x.Last-x.First)*time.Millisecond)
	}
	x.addResult(s)
}

// players returns the names of the players who have one.
func (x *Index) players() (names []string) {
	for i := range x.Played {
		if name, _ := display(x.Played[i].Key.Name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// goals returns the goals.
func (x *Index) goals() (list []*Event) {
	for i := range x.Events {
		if e := &x.Events[i]; e.Kind == "goal" {
			list = append(list, e)
		}
	}
	return list
}

// addResult tells the score, the goals and the teams, as scores.json has them.
func (x *Index) addResult(s *formats.Summary) {
	blue, err := strconv.ParseFloat(string(x.Points[0]), 64)
	orange, err2 := strconv.ParseFloat(string(x.Points[1]), 64)
	if err != nil || err2 != nil { // they are no numbers
		return
	}
	s.Details.Add("score", fmt.Sprintf("blue %v, orange %v", blue, orange))
	var goals []string
	for _, e := range x.goals() {
		var g struct {
			Scorer string `json:"person_scored"`
			Points int    `json:"point_amount"`
		}
		if json.Unmarshal(e.members(nil), &g) == nil {
			goals = append(goals, fmt.Sprintf("%s %d", g.Scorer, g.Points))
		}
	}
	s.Details.Add("goals", strings.Join(goals, ", "))
	for team, title := range TeamNames[:2] {
		var names []string
		for i := range x.Played {
			if name, _ := display(x.Played[i].Key.Name); x.Played[i].Team == team {
				names = append(names, name)
			}
		}
		s.Details.Add(title, strings.Join(names, ", "))
	}
	s.Result = fmt.Sprintf("%v:%v, %s against %s", blue, orange, s.Details.Text("blue"), s.Details.Text("orange"))
	if len(goals) > 0 {
		s.Result += ", goals " + strings.Join(goals, ", ")
	}
}

// hasDates reports whether there are frames, and the times of the first and the last are dates.
func (x *Index) hasDates() bool { return x.Ticks > 0 && dated(x.First) && dated(x.Last) }

// mismatched reports whether the checksum of the whole text is wrong, which is the fault of no
// particular chunk.
func (x *Index) mismatched() bool {
	return slices.ContainsFunc(x.Problems, func(p formats.Problem) bool { return p.Code == CodeChecksum })
}

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
	Time   int64 // of the first frame, if there is one
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
// the last chunk with frames, and the players.
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
	x.eventMemory, x.places = 0, x.byKey()
	for i := range x.Events {
		x.eventMemory += x.Events[i].memory()
	}
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

// eventRows are the rows of the table events.
func eventRows(_ context.Context, x *Index) (views.Rows, error) {
	return views.Rows{
		N: len(x.Events), Add: func(b *columnar.Batch, i int) { x.Events[i].row(b) },
		Chunk: func(i int) int { return x.chunkOf(x.Events[i].Tick) },
	}, nil
}
