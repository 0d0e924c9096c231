package echo

import (
	"context"
	"hash"
	"hash/crc32"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"recfs/formats/columnar"
	"recfs/formats/internal/rowcount"
	"recfs/formats/internal/wire"
)

// A Builder makes an Index of chunks, which it is given in their order.
type Builder struct {
	Index
	State   []byte // the state of the format at which to go on
	layout  string
	players []columnar.Column // of the table
	settled bool              // this pass has written its Tail
	summary Summary
	wait    sync.WaitGroup
	slots   chan struct{}
	sizes   []*newPart
	rows    []*chunkRows     // of the chunks that are still being measured, and those after them
	lines   [2]rowcount.Line // of frames and of players
}

// chunkRows are the rows that a chunk has in tables.
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

// join adds the rows of the next chunks that have been measured.
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

// largeChunk is the memory of a chunk from which on it is measured before the next one is read.
const largeChunk = 8 << 20

// Add takes the next chunk, whose frames must not change any more. Its lengths are measured in the
// background.
func (b *Builder) Add(c *Chunk, info ChunkInfo) error {
	for i := range c.Frames {
		b.summary.Add(c.FirstTick+int64(i), &c.Frames[i])
	}
	if b.slots == nil {
		b.slots = make(chan struct{}, runtime.GOMAXPROCS(0))
	}
	info.FirstTick = c.FirstTick
	p := &newPart{ChunkInfo: info, Part: Part{Skip: c.Skip, Stored: info.Stored - c.Skip, Frames: len(c.Frames)}, continues: c.Continues}
	b.sizes = append(b.sizes, p)
	b.join()
	rows := b.nextRows(c)
	if len(c.Frames) == 0 {
		rows.done.Store(true)
		c.Held.Free()
		return nil
	}
	p.Time = c.Frames[0].Time
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
		runtime.GC()
	}
	return nil
}

// flush adds the chunks that are being measured.
func (b *Builder) flush() {
	b.wait.Wait()
	b.join()
	for _, p := range b.sizes {
		b.add(p)
		b.CRC = wire.CombineCRC(b.CRC, p.crc, p.text())
	}
	b.sizes = nil
}

// Finish returns the Index, which does not keep the Builder alive. It must be called even if the
// pass was given up.
func (b *Builder) Finish() *Index {
	b.flush()
	x := new(b.Index)
	x.Results, x.Events = b.summary.Results, b.summary.events
	if last := &b.summary.Before; x.Ticks > 0 {
		x.Points = [2][]byte{appendPoints(nil, last, 0), appendPoints(nil, last, 1)}
	}
	x.place()
	if x.Frames == nil {
		x.Frames, x.Players = rowcount.New(framesColumns), rowcount.New(b.players)
	}
	return x
}

// lineRooms have memory for a line each.
var lineRooms = sync.Pool{New: func() any { return new([]byte) }}

// measure renders everything that is made of a part, to learn its lengths.
func (m *newPart) measure(chunk *Chunk, start int64, rows *chunkRows) {
	var buf []byte
	room := lineRooms.Get().(*[]byte)
	defer lineRooms.Put(room)
	crc := crc32.NewIEEE()
	for i := range chunk.Frames {
		if n := len(m.Pieces); n == 0 || m.Pieces[n-1].Frames == PieceFrames || m.Pieces[n-1].Sizes[viewLines.number] >= pieceText {
			m.Pieces = append(m.Pieces, Piece{})
		}
		p := &m.Pieces[len(m.Pieces)-1]
		p.Frames++
		line, session, end := chunk.appendLine(slices.Grow((*room)[:0], chunk.room(i)), i)
		*room = line
		rows.add(chunk, i)
		buf = append(AppendStamp(buf[:0], chunk.Frames[i].Time), '\t')
		p.Sizes[viewLines.number] += int64(len(line) + 1)
		p.Sizes[viewText.number] += sumText(crc, buf, line[session:end], line[end:len(line)-1])
		for _, v := range []*view{viewDisc, viewPlayers} {
			p.Sizes[v.number] += int64(len(v.append(chunk, buf[:0], i, start)))
		}
	}
	m.crc = crc.Sum32()
}

// sumText adds the line of .echoreplay to a checksum, and returns how long it is.
func sumText(crc hash.Hash32, head, session, bones []byte) (n int64) {
	add := func(b []byte) {
		crc.Write(b)
		n += int64(len(b))
	}
	add(head)
	add(session)
	if len(bones) > 0 {
		add([]byte{'\t'})
		add(bones[len(bonesKey):])
	}
	add([]byte("\r\n"))
	return n
}

// Scan makes an Index of the chunks that next returns, until it returns none. A later pass goes on
// from the State that next returns at the end, or with a chunk that is Open.
func (b *Builder) Scan(ctx context.Context, next func(context.Context) (*Chunk, ChunkInfo, error)) (*Index, error) {
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
			b.settled = false // the chunk that was open has come to its end
		}
		err = b.Add(c, info)
	}
	return b.Finish(), err
}
