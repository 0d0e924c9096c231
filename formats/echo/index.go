package echo

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/rowcount"
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
	End               string // EndClean, EndTruncated or EndTrailing
	Bytes             int64  // of the file
	Chunks            []ChunkInfo
	Problems          []formats.Problem
	Ticks, BonesTicks int64
	First, Last       int64  // times of the first and the last frame
	CRC               uint32 // of the text of .echoreplay
	Events            []byte // events.jsonl
	Scores            []byte // scores.json, compact
	Frames, Players   *rowcount.Counter
	Tail              []byte // see Resume; nil: nothing comes behind the chunks
	Open              any    // what a pass over a part has open, for the one that goes on from it; not saved
}

var _ formats.Index = (*Index)(nil)

// A Builder makes an Index of the chunks it is given in order.
type Builder struct {
	Index
	State   []byte // what the format gave Scan for where it is to go on
	layout  string
	players []columnar.Column // of the table
	settled bool              // Tail is that of this pass
	summary Summary
	wait    sync.WaitGroup
	slots   chan struct{}
	sizes   []*ChunkInfo
	rows    []*chunkRows     // of the chunks that are still being measured, and those after them
	lines   [2]rowcount.Line // of frames and of players
}

// chunkRows are the rows of tables that a chunk has.
type chunkRows struct {
	frames, players *rowcount.Counter
	continues       bool        // those of the chunk before it
	done            atomic.Bool // they are counted
}

// add counts frame i of a chunk.
func (r *chunkRows) add(c *Chunk, i int) {
	frameRow(r.frames.Batch, c.FirstTick+int64(i), c.Number, &c.Frames[i])
	r.frames.EndRow()
	playerRows(r.players.Batch, c.FirstTick+int64(i), &c.Frames[i], r.players.EndRow)
}

// nextRows returns Counters for the next chunk.
func (b *Builder) nextRows(c *Chunk) *chunkRows {
	players := 0
	for i := range c.Frames {
		for t := range c.Frames[i].Teams {
			players += len(c.Frames[i].Teams[t].Players)
		}
	}
	part := (*rowcount.Line).Part
	if c.Continues {
		part = (*rowcount.Line).More
	}
	r := &chunkRows{
		frames: part(&b.lines[0], framesColumns, len(c.Frames)), players: part(&b.lines[1], b.players, players),
		continues: c.Continues,
	}
	b.rows = append(b.rows, r)
	return r
}

// join takes the rows of the next chunks that are measured.
func (b *Builder) join() {
	for len(b.rows) > 0 && b.rows[0].done.Load() {
		r := b.rows[0]
		b.rows = b.rows[1:]
		if b.Frames == nil {
			b.Frames, b.Players = rowcount.New(framesColumns), rowcount.New(b.players)
		} else if !r.continues {
			b.Frames.EndChunk()
			b.Players.EndChunk()
		}
		b.Frames.Join(r.frames)
		b.Players.Join(r.players)
	}
}

// maxEvents bounds events.jsonl, which is kept whole: a match has some hundred kilobytes of events.
const maxEvents = 256 << 20

var errEvents = errors.New("more events than can be kept")

// largeChunk is how much memory a chunk takes that is measured before the next one is read.
const largeChunk = 8 << 20

// Add takes the next chunk, whose frames must not change any more. Its lengths are measured in the
// background.
func (b *Builder) Add(c *Chunk, info ChunkInfo) error {
	for i := range c.Frames {
		b.summary.Add(c.FirstTick+int64(i), &c.Frames[i])
	}
	if len(b.summary.events.buf) > maxEvents {
		return errEvents
	}
	if b.slots == nil {
		b.slots = make(chan struct{}, runtime.GOMAXPROCS(0))
	}
	info.FirstTick, info.continues, info.skip = c.FirstTick, c.Continues, c.Skip
	p := &info
	b.sizes = append(b.sizes, p)
	b.join()
	rows := b.nextRows(c)
	if len(c.Frames) == 0 {
		rows.done.Store(true)
		c.Held.Free()
		return nil
	}
	start := b.summary.First
	b.slots <- struct{}{}
	b.wait.Go(func() {
		p.measure(c, start, rows)
		rows.done.Store(true)
		c.Held.Free()
		<-b.slots
	})
	if c.Held.Size() > largeChunk {
		b.wait.Wait()
	}
	return nil
}

// flush takes in the chunks that are being measured.
func (b *Builder) flush() {
	b.wait.Wait()
	b.join()
	for _, c := range b.sizes {
		b.add(c)
		b.CRC = CombineCRC(b.CRC, c.crc, c.text())
	}
	b.sizes = nil
}

// add takes the next chunk, or the next part of the last one.
func (x *Index) add(c *ChunkInfo) {
	if !c.continues {
		x.Chunks = append(x.Chunks, *c)
		if c.skip > 0 {
			c.addPart(&x.Chunks[len(x.Chunks)-1])
		}
		return
	}
	to := &x.Chunks[len(x.Chunks)-1]
	if to.Parts == nil {
		to.addPart(to)
	}
	if c.Stored > 0 || c.Ticks > 0 {
		c.addPart(to)
	}
	to.Stored += c.Stored
	to.Size += c.Size
	to.Damaged = to.Damaged || c.Damaged
	to.Ticks += c.Ticks
	to.Pieces = append(to.Pieces, c.Pieces...)
}

// Finish returns the Index. It must be called even if the pass was given up.
func (b *Builder) Finish(m *Match) (*Index, error) {
	b.flush()
	x := &b.Index
	x.place()
	x.Ticks, x.BonesTicks = b.summary.Ticks, b.summary.BonesTicks
	x.First, x.Last = b.summary.First, b.summary.Last
	x.Events = b.summary.Events()
	if x.Frames == nil {
		x.Frames, x.Players = rowcount.New(framesColumns), rowcount.New(b.players)
	}
	var err error
	x.Scores, err = json.Marshal(b.summary.Scores(m))
	return x, err
}

// Memory returns about how much memory the index keeps.
func (x *Index) Memory() int64 {
	n := int64(len(x.Events)+len(x.Scores)+len(x.Tail)) + 4096 + x.Frames.Cost() + x.Players.Cost()
	for i := range x.Chunks {
		c := &x.Chunks[i]
		n += 256 + int64(len(c.State)) + 256*int64(len(c.Pieces)) + 24*int64(len(c.Parts))
	}
	return n
}

// Reach is all that was read: the bytes of a chunk that is not whole yet are in the index, too.
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
			last := c.FirstTick + int64(c.Ticks) - 1
			v.First, v.Last = &c.FirstTick, &last
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

// Summarize adds to a summary what the index tells of the recording (docs/tree/README.md section 3).
func (x *Index) Summarize(format string, s *formats.Summary) {
	doc := x.document(format)
	ticks := x.Ticks
	s.Ticks, s.Chunks, s.Complete, s.Finished, s.End, s.Problems = &ticks, len(x.Chunks), doc.Complete, doc.Finished, doc.End, doc.Problems
	if x.hasDates() {
		start := time.UnixMilli(x.First).UTC()
		length := time.Duration(x.Last-x.First) * time.Millisecond
		s.Start, s.Duration = &start, &length
	}
}

// hasDates reports whether there are frames and their times are dates, as far as the first and the last tell.
func (x *Index) hasDates() bool { return x.Ticks > 0 && dated(x.First) && dated(x.Last) }

// mismatched reports whether the checksum of the whole text does not hold, so that no chunk can be
// blamed.
func (x *Index) mismatched() bool {
	return slices.ContainsFunc(x.Problems, func(p formats.Problem) bool { return p.Code == CodeChecksum })
}

// Scan makes an Index from the chunks that next returns until it has none. next is called with ctx
// checked. The State that it gives with the end, or with a chunk that is Open, is that to go on from.
func (b *Builder) Scan(ctx context.Context, m *Match, next func(context.Context) (*Chunk, ChunkInfo, error)) (*Index, error) {
	var err error
	for err == nil {
		var c *Chunk
		var info ChunkInfo
		if err = ctx.Err(); err != nil {
			break
		}
		if c, info, err = next(ctx); err != nil {
			break
		}
		if !b.settled && (c == nil || c.Open) {
			b.settle(info.State)
		}
		if c == nil {
			break
		}
		if c.Continues && !c.Open {
			b.settled = false // the chunk in which it was not known whether it ends is there for good
		}
		err = b.Add(c, info)
	}
	x, e := b.Finish(m)
	if err == nil {
		err = e
	}
	return x, err
}
