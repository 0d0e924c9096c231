package echovr

import (
	"bytes"
	"context"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/rowcount"
	"recfs/nodes"
)

// tables returns what makes the tables.
func (t *Tree) tables() []columnar.Maker {
	groups := func(of func(x *Index) []columnar.Group) func(context.Context) ([]columnar.Group, error) {
		return func(ctx context.Context) ([]columnar.Group, error) {
			x, err := t.Index(ctx)
			if err != nil {
				return nil, err
			}
			return of(x), nil
		}
	}
	return []columnar.Maker{
		columnar.NewMaker(framesTable, framesColumns, groups(func(x *Index) []columnar.Group { return x.Frames.Groups() }), t.fillFrames),
		columnar.NewMaker(playersTable, playersColumns, groups(func(x *Index) []columnar.Group { return x.Players.Groups() }), t.fillPlayers),
		columnar.NewMaker(eventsTable, eventsColumns, groups((*Index).eventGroups), t.fillEvents),
	}
}

// fill puts the rows of the chunks from a number on into b, until it is full: those that are kept of a chunk, which of
// returns, or those that add adds of its frames.
func (t *Tree) fill(ctx context.Context, b *columnar.Batch, chunk int, of func(*tableRows) *columnar.Batch, add func(*Chunk) error) error {
	x, err := t.Index(ctx)
	if err != nil {
		return err
	}
	if chunk >= len(x.Chunks) {
		return nodes.ErrStale
	}
	for ; chunk < len(x.Chunks) && !b.Full(); chunk++ {
		if x.Chunks[chunk].Ticks() == 0 {
			continue
		}
		kept, err := t.rowsOf(ctx, chunk, x.Chunks[chunk].parts())
		if err != nil {
			return err
		}
		if kept != nil {
			b.Append(of(kept))
		} else if err := t.visit(ctx, &x.Chunks[chunk], chunk, add); err != nil {
			return err
		}
	}
	return nil
}

// The rows of a chunk are charged from freeRows on, which 200 frames of 8 players have, each time that rowsTogether frames more are
// there.
const (
	freeRows     = 256 << 10
	rowsTogether = 16
)

// rowsOf returns the rows of a chunk, nil if they are to be made of its frames: these are in memory, or nothing else tells.
func (t *Tree) rowsOf(ctx context.Context, chunk, parts int) (*tableRows, error) {
	if _, ok := t.chunks.Peek(partKey{chunk, 0}); ok && parts == 1 {
		return nil, nil
	}
	return t.rows.Get(ctx, chunk)
}

// loadRows makes the rows of a chunk, whose frames it does not keep.
func (t *Tree) loadRows(ctx context.Context, chunk int) (*tableRows, int64, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, 0, err
	}
	held, err := formats.Charge(ctx, 0)
	if err != nil {
		return nil, 0, err
	}
	defer held.Free()
	info := &x.Chunks[chunk]
	r := &tableRows{frames: columnar.NewRows(framesColumns, min(info.Ticks(), framesRoom))}
	n, charged := 0, int64(freeRows)
	for _, part := range t.visited(info) {
		ok, err := t.rec.Visit(ctx, chunk, part, func(f *Frame, stored *Session) error {
			r.add(info.FirstTick+int64(n), chunk, f, info.Ticks(), sessionOf{t.rec.Encoder, stored})
			if n++; n%rowsTogether != 1 {
				return nil
			}
			more := max(r.size()-charged, 0)
			charged += more
			return held.Grow(more)
		})
		if err != nil || !ok {
			return nil, 0, err
		}
	}
	if n != info.Ticks() {
		return nil, 0, nil
	}
	return r, r.size(), nil
}

// visited returns what of a chunk is visited one by one.
func (t *Tree) visited(info *ChunkInfo) []*ChunkInfo {
	if t.rec.Together {
		return []*ChunkInfo{info}
	}
	list := make([]*ChunkInfo, info.parts())
	for part := range list {
		list[part] = info.part(part)
	}
	return list
}

// visit calls fn for the parts of a chunk that have frames.
func (t *Tree) visit(ctx context.Context, info *ChunkInfo, chunk int, fn func(*Chunk) error) error {
	for part := range info.parts() {
		if info.part(part).Ticks() == 0 {
			continue
		}
		c, err := t.chunks.Get(ctx, partKey{chunk, part})
		if err != nil {
			return err
		}
		if err := fn(c); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tree) fillFrames(ctx context.Context, b *columnar.Batch, chunk int) error {
	return t.fill(ctx, b, chunk, func(r *tableRows) *columnar.Batch { return r.frames }, func(c *Chunk) error {
		for i := range c.Frames {
			c.frameRow(b, i)
		}
		return nil
	})
}

func (t *Tree) fillPlayers(ctx context.Context, b *columnar.Batch, chunk int) error {
	return t.fill(ctx, b, chunk, func(r *tableRows) *columnar.Batch { return r.players }, func(c *Chunk) error {
		for i := range c.Frames {
			playerRows(b, c.FirstTick+int64(i), &c.Frames[i], func() {})
		}
		return nil
	})
}

// events calls fn for each line of events.jsonl from a chunk on with the chunk of its tick, until it
// returns false.
func (x *Index) events(from int, fn func(chunk int, line []byte) bool) {
	chunk := 0
	for line := range bytes.Lines(x.Events) {
		line = bytes.TrimSuffix(line, []byte{'\n'})
		tick := integerOf(memberOf(line, `"tick"`))
		for chunk+1 < len(x.Chunks) && x.Chunks[chunk+1].FirstTick <= tick {
			chunk++
		}
		if chunk >= from && !fn(chunk, line) {
			return
		}
	}
}

// eventGroups counts the events, which the index has all of.
func (x *Index) eventGroups() []columnar.Group {
	c, at := rowcount.New(eventsColumns), 0
	var buf []byte
	x.events(0, func(chunk int, line []byte) bool {
		for ; at < chunk; at++ {
			c.EndChunk()
		}
		eventRow(c.Batch, line, &buf)
		c.EndRow()
		return true
	})
	return c.Groups()
}

func (t *Tree) fillEvents(ctx context.Context, b *columnar.Batch, chunk int) error {
	x, err := t.Index(ctx)
	if err != nil {
		return err
	}
	var buf []byte
	x.events(chunk, func(_ int, line []byte) bool {
		eventRow(b, line, &buf)
		return !b.Full()
	})
	return nil
}
