package nethack

import (
	"context"
	"runtime"

	"recfs/formats"
	"recfs/nodes"
)

// A piece of a file of lines has so many ticks, or those of so many bytes of the log, or one. Those of game.cast have
// fewer: an event is some thirty times as long as a line.
const (
	pieceTicks = 512
	castTicks  = 64
	pieceBytes = 256 << 10
)

// linesPerByte is about how many bytes the lines take at most that are made of one of the log, with room to grow.
const linesPerByte = 24

// pieces are how a file of lines is made: those of the ticks from one cut to the next.
type pieces struct {
	cuts  []int
	sizes []int64    // of each piece, unless there is only one
	marks []castTime // where each piece begins, of game.cast unless there is only one
}

// cost returns how many bytes the pieces take that the cuts make.
func (p *pieces) cost() int64 { return int64(64 + (8+8+16)*cap(p.cuts)) }

// linesFile is a file with lines of many ticks, which are made piece by piece if they are more than should be held.
func (rec *recording) linesFile(v view, n int) nodes.File {
	return nodes.Opened(func(ctx context.Context) (nodes.Content, error) {
		p, err := rec.pieces.Get(ctx, text{view: v, n: n})
		if err != nil {
			return nil, err
		}
		load := func(ctx context.Context, i int) ([]byte, error) {
			return rec.ofTick(ctx, func(ctx context.Context) ([]byte, error) {
				return rec.texts.GetFrom(ctx, text{v, n, i}, p.load(rec))
			})
		}
		if len(p.sizes) == 0 {
			b, err := load(ctx, 0)
			return nodes.BytesContent(b), err
		}
		c := nodes.NewPieces(load)
		for _, size := range p.sizes {
			c.Add(size)
		}
		return c, nil
	})
}

// ticksOf returns the ticks that a file of lines is made of.
func (rec *recording) ticksOf(x *index, t text) (first, end int, err error) {
	end = x.ticks.len()
	switch t.view {
	case heroView, castView:
		return 0, end, nil
	case commandsView:
		if !rec.Running || x.over {
			end++ // with what is pending
		}
		return 0, end, nil
	}
	if t.n >= x.chunks.rows {
		return 0, 0, nodes.ErrStale
	}
	if rec.Running {
		end = x.settled()
	}
	first = x.chunks.number(t.n)
	return first, max(first, min(end, x.chainEnd(first))), nil
}

// loadPieces cuts a file of lines, and makes all of it once to learn the sizes. Whoever reads it from its start finds
// the first pieces made: all of them if the game is not a very long one.
func (rec *recording) loadPieces(ctx context.Context, t text) (*pieces, int64, error) {
	x, err := rec.index(ctx)
	if err != nil {
		return nil, 0, err
	}
	p := &pieces{}
	if t.view == indexView {
		damage, err := rec.Damage(ctx)
		if err != nil {
			return nil, 0, err
		}
		p.cuts = x.indexPieces(damage)
	} else if p.cuts, err = rec.cut(x, t); err != nil {
		return nil, 0, err
	}
	if len(p.cuts) > 2 { // whoever reads the only piece learns its size
		err = rec.measure(ctx, x, t, p)
	}
	return p, p.cost(), err
}

// measure makes the pieces of a file one after the other for their sizes. The index counts, too, where it is held for
// as long as it takes to go through the whole game.
func (rec *recording) measure(ctx context.Context, x *index, t text, p *pieces) error {
	need := p.cost()
	if t.view != chunkView {
		need += x.Memory()
	}
	held, err := formats.Charge(ctx, need)
	if err != nil {
		return err
	}
	defer held.Free()
	n := len(p.cuts) - 1
	p.sizes = make([]int64, 0, n)
	at, made := castStart, int64(0)
	for t.part = range n {
		if t.view == castView {
			p.marks = append(p.marks, at)
		}
		var b []byte
		if b, at, err = rec.piece(ctx, x, t, p, at); err != nil {
			return err
		}
		p.sizes = append(p.sizes, int64(len(b)))
		if made += int64(cap(b)); made <= rec.ahead {
			rec.texts.Put(t, b, int64(cap(b)))
		}
	}
	runtime.KeepAlive(x)
	return nil
}

// cut returns where the pieces of a file of lines begin, and its end.
func (rec *recording) cut(x *index, t text) ([]int, error) {
	first, end, err := rec.ticksOf(x, t)
	if err != nil {
		return nil, err
	}
	if t.view == castView {
		return x.cut(first, end, castTicks), nil
	}
	return x.cut(first, end, pieceTicks), nil
}

// cut returns where the pieces of the ticks from first to end begin, and end: of so many ticks at most.
func (x *index) cut(first, end, most int) []int {
	cuts := []int{first}
	for n := first; n < end; n++ {
		last := cuts[len(cuts)-1]
		if n > last && (n-last == most || x.behind(n)-x.behind(last-1) > pieceBytes) {
			cuts = append(cuts, n)
		}
	}
	return append(cuts, end)
}

// load returns what makes a piece of a file of lines for who has its pieces: they may be given up while it is read, and
// take a pass over the game to be made again.
func (p *pieces) load(rec *recording) func(context.Context, text) ([]byte, int64, error) {
	return func(ctx context.Context, t text) ([]byte, int64, error) {
		x, err := rec.index(ctx)
		if err != nil {
			return nil, 0, err
		}
		at := castStart
		if len(p.marks) > 0 {
			at = p.marks[t.part]
		}
		b, _, err := rec.piece(ctx, x, t, p, at)
		return b, int64(cap(b)), err
	}
}

// piece makes a piece of a file of lines, which begins at a mark, and returns where the next one begins.
func (rec *recording) piece(ctx context.Context, x *index, t text, p *pieces, at castTime) (b []byte, next castTime, err error) {
	first, end := p.cuts[t.part], p.cuts[t.part+1]
	switch t.view {
	case heroView:
		b, err = rec.heroTable(ctx, x, first, end)
	case castView:
		return rec.cast(ctx, x, first, end, at)
	case indexView:
		b, err = rec.indexPiece(ctx, x, first, end)
	default:
		b, err = rec.makeLines(ctx, x, t.view, first, end)
	}
	return b, at, err
}

// indexPiece makes a piece of index.json.
func (rec *recording) indexPiece(ctx context.Context, x *index, first, end int) ([]byte, error) {
	damage, err := rec.Damage(ctx)
	if err != nil {
		return nil, err
	}
	need := int64(end-first) * unitCost
	if pending := x.chunks.rows + 1; first <= pending && pending < end {
		need += linesPerByte * int64(len(x.tail))
	}
	held, err := formats.Charge(ctx, need)
	if err != nil {
		return nil, err
	}
	defer held.Free()
	return x.appendIndex(nil, first, end, damage)
}

// makeLines returns the lines of the ticks from first to end: each as in ticks/, or the commands that led to them with
// their answers.
func (rec *recording) makeLines(ctx context.Context, x *index, v view, first, end int) (doc []byte, err error) {
	held, err := formats.Charge(ctx, linesPerByte*x.eventBytes(first, end))
	if err != nil {
		return nil, err
	}
	defer held.Free()
	err = x.visit(ctx, rec.At(ctx), first, end, func(n int, ev *events) error {
		if v == commandsView {
			doc = x.appendCommands(doc, n, ev)
		} else {
			doc = append(x.appendTick(doc, n, ev), '\n')
		}
		return nil
	})
	return doc, err
}

// eventBytes returns how long the lines are between the saves of ticks.
func (x *index) eventBytes(first, end int) (sum int64) {
	for n := first; n < end; n++ {
		off := x.end
		if n < x.ticks.len() {
			off = x.ticks.off(n)
		}
		sum += off - x.behind(n-1)
	}
	return sum
}
