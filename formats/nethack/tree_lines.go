package nethack

import (
	"context"

	"recfs/formats"
	"recfs/formats/views"
	"recfs/nodes"
)

// A piece of a file of lines has at most so many ticks, or those of so many bytes of the log, but
// at least one. A piece of game.cast has fewer: an event is some thirty times as long as a line.
const (
	pieceTicks = 512
	castTicks  = 64
	pieceBytes = 256 << 10
)

// linesPerByte is about how many bytes of lines a byte of the log makes at most, with room to grow.
const linesPerByte = 24

// A view is a file of lines of ticks.
type view string

const (
	chunkView    view = "lines"
	commandsView view = "commands.jsonl"
	heroView     view = "hero.csv"
	castView     view = "game.cast"
)

// linesFile is a file with lines of many ticks, which are made piece by piece.
func (rec *recording) linesFile(v view, n int) nodes.File {
	return rec.Text(string(v), n, func(_ context.Context, x *index) (*views.Text, error) {
		first, end, err := rec.ticksOf(x, v, n)
		if err != nil {
			return nil, err
		}
		most := pieceTicks
		if v == castView {
			most = castTicks
		}
		cuts := x.cut(first, end, most)
		text := &views.Text{N: len(cuts) - 1, Cost: int64(8 * cap(cuts)), Make: func(ctx context.Context, i int, at any) (views.Part, error) {
			return rec.piece(ctx, v, cuts[i], cuts[i+1], at)
		}}
		if v != chunkView {
			text.Claim = x.Memory() // it is held for as long as it takes to go through the whole game
		}
		return text, nil
	})
}

// ticksOf returns the ticks that a file of lines is made of.
func (rec *recording) ticksOf(x *index, v view, n int) (first, end int, err error) {
	end = x.ticks.len()
	switch v {
	case heroView, castView:
		return 0, end, nil
	case commandsView:
		if !rec.Running || x.over {
			end++ // with what is pending
		}
		return 0, end, nil
	}
	if n >= x.chunks.rows {
		return 0, 0, nodes.ErrStale
	}
	if rec.Running {
		end = x.settled()
	}
	first = x.chunks.number(n)
	return first, max(first, min(end, x.chainEnd(first))), nil
}

// piece makes the lines of the ticks from first to before end. at is where they begin in game.cast.
func (rec *recording) piece(ctx context.Context, v view, first, end int, at any) (p views.Part, err error) {
	x, err := rec.Index(ctx)
	if err != nil {
		return p, err
	}
	switch v {
	case heroView:
		p.Bytes, err = rec.heroTable(ctx, x, first, end)
	case castView:
		start := castStart
		if at != nil {
			start = at.(castTime)
		}
		p.Bytes, p.Next, err = rec.cast(ctx, x, first, end, start)
	default:
		p.Bytes, err = rec.makeLines(ctx, x, v, first, end)
	}
	return p, err
}

// makeLines returns the lines of the ticks from first to end: each as in ticks/, or the commands
// that led to them with their answers.
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
