package echovr

import (
	"bytes"
	"context"

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

// visit calls fn for the chunks from a number on that have frames, until b is full.
func (t *Tree) visit(ctx context.Context, b *columnar.Batch, chunk int, fn func(*Chunk) error) error {
	x, err := t.Index(ctx)
	if err != nil {
		return err
	}
	if chunk >= len(x.Chunks) {
		return nodes.ErrStale
	}
	for ; chunk < len(x.Chunks) && !b.Full(); chunk++ {
		for part := range x.Chunks[chunk].parts() {
			if x.Chunks[chunk].part(part).Ticks() == 0 {
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
	}
	return nil
}

func (t *Tree) fillFrames(ctx context.Context, b *columnar.Batch, chunk int) error {
	return t.visit(ctx, b, chunk, func(c *Chunk) error {
		longest := 0
		for i := range c.Frames {
			longest = max(longest, c.room(i, 1))
		}
		held, err := rendering(ctx, int64(longest))
		if err != nil {
			return err
		}
		defer held.Free()
		session := make([]byte, 0, longest)
		for i := range c.Frames {
			if c.Encoder == nil {
				session = c.Session(session[:0], c.base+i)
			}
			c.frameRow(b, i, session)
		}
		return nil
	})
}

func (t *Tree) fillPlayers(ctx context.Context, b *columnar.Batch, chunk int) error {
	return t.visit(ctx, b, chunk, func(c *Chunk) error {
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
