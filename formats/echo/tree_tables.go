package echo

import (
	"bytes"
	"context"
	"errors"

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
		columnar.NewMaker(playersTable, playersOf(t.rec.Encoder == nil), groups(func(x *Index) []columnar.Group { return x.Players.Groups() }), t.fillPlayers),
		columnar.NewMaker(eventsTable, eventsColumns, groups((*Index).eventGroups), t.fillEvents),
	}
}

// An adder adds the rows of a frame.
type adder func(tick int64, chunk int, f *Frame, s sessionOf)

// fill puts the rows of the chunks from a number on into b, until it is full: those that are kept of a chunk, which of
// returns, or those that add adds of its frames.
func (t *Tree) fill(ctx context.Context, b *columnar.Batch, chunk int, of func(*tableRows) *columnar.Batch, add adder) error {
	x, err := t.Index(ctx)
	if err != nil {
		return err
	}
	if chunk >= len(x.Chunks) {
		return nodes.ErrStale
	}
	for ; chunk < len(x.Chunks) && !b.Full(); chunk++ {
		info := &x.Chunks[chunk]
		if info.Ticks() == 0 {
			continue
		}
		kept, err := t.rowsOf(ctx, chunk, info.parts())
		switch {
		case err != nil:
		case kept == nil:
			err = t.visit(ctx, info, chunk, add)
		case kept.frames == nil:
			err = t.stream(ctx, b, info, chunk, add)
		default:
			b.Append(of(kept))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errFull = errors.New("there are rows enough")

// stream adds the rows of a chunk of which none are kept, until b is full.
func (t *Tree) stream(ctx context.Context, b *columnar.Batch, info *ChunkInfo, chunk int, add adder) error {
	n := 0
	ok, err := t.rec.Visit(ctx, chunk, info, func(f *Frame, stored *Session) error {
		if b.Full() {
			return errFull
		}
		add(info.FirstTick+int64(n), chunk, f, sessionOf{Encoder: t.rec.Encoder, stored: stored})
		n++
		return nil
	})
	switch {
	case err == errFull:
		return nil
	case err == nil && (!ok || n != info.Ticks()):
		return nodes.ErrStale // it was another one when its rows were counted
	}
	return err
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

// loadRows makes the rows of a chunk, whose frames it does not keep. Of one that comes in parts and cannot be visited part by part it only
// looks whether all frames can be visited: its rows may be many, and are added where they are asked for.
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
	r := &tableRows{}
	if !t.rec.Together || info.parts() == 1 {
		r.frames = columnar.NewRows(framesColumns, min(info.Ticks(), framesRoom))
	}
	n, charged := 0, int64(freeRows)
	for _, part := range t.visited(info) {
		ok, err := t.rec.Visit(ctx, chunk, part, func(f *Frame, stored *Session) error {
			if n++; r.frames == nil {
				return nil
			}
			r.add(info.FirstTick+int64(n-1), chunk, f, info.Ticks(), sessionOf{Encoder: t.rec.Encoder, stored: stored})
			if n%rowsTogether != 1 {
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

// visit adds the rows of the frames of a chunk, part by part.
func (t *Tree) visit(ctx context.Context, info *ChunkInfo, chunk int, add adder) error {
	for part := range info.parts() {
		if info.part(part).Ticks() == 0 {
			continue
		}
		c, err := t.chunks.Get(ctx, partKey{chunk, part})
		if err != nil {
			return err
		}
		for i := range c.Frames {
			add(c.FirstTick+int64(i), c.Number, &c.Frames[i], c.session(i))
		}
	}
	return nil
}

func (t *Tree) fillFrames(ctx context.Context, b *columnar.Batch, chunk int) error {
	frames := func(r *tableRows) *columnar.Batch { return r.frames }
	return t.fill(ctx, b, chunk, frames, func(tick int64, chunk int, f *Frame, s sessionOf) { s.frameRow(b, tick, chunk, f) })
}

func (t *Tree) fillPlayers(ctx context.Context, b *columnar.Batch, chunk int) error {
	players := func(r *tableRows) *columnar.Batch { return r.players }
	return t.fill(ctx, b, chunk, players, func(tick int64, _ int, f *Frame, _ sessionOf) { playerRows(b, tick, f, func() {}) })
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
