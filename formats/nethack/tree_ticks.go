package nethack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"time"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/views"
	"recfs/nodes"
)

// numbers are the ticks.
func (x *index) numbers() views.Numbers { return views.Numbers{N: x.ticks.len()} }

// runTicks is how many ticks there are in a run, whose sizes are learned at once: the saves of a
// run are rebuilt in one place, which copies none of them.
const runTicks = 256

func (x *index) run(i int) (first, end int) {
	first = i - i%runTicks
	return first, min(first+runTicks, x.ticks.len())
}

// tick makes a document of ticks/.
func (rec *recording) tick(ctx context.Context, tick int64) ([]byte, error) {
	n := int(tick)
	x, err := rec.indexed(ctx, n)
	if err != nil {
		return nil, err
	}
	held, err := formats.Charge(ctx, 2*linesPerByte*x.eventBytes(n, n+1))
	if err != nil {
		return nil, err
	}
	defer held.Free()
	doc, err := x.tick(ctx, rec.At(ctx), n)
	if err != nil {
		return nil, err
	}
	return appendDocument(make([]byte, 0, 512+len(doc)*5/4), doc), nil
}

// eachTick makes the documents of a run of ticks/.
func (rec *recording) eachTick(ctx context.Context, x *index, first, end int, fn func(i int, doc []byte) error) error {
	var line, doc []byte
	return x.visit(ctx, rec.At(ctx), first, end, func(n int, ev *events) error {
		line = x.appendTick(line[:0], n, ev)
		doc = appendDocument(doc[:0], line)
		return fn(n, doc)
	})
}

// eachState makes the documents of a run of states/.
func (rec *recording) eachState(ctx context.Context, x *index, first, end int, fn func(i int, doc []byte) error) error {
	var doc []byte
	return rec.eachSave(ctx, x, &rebuilder{}, first, end-1, func(n int, save []byte) error {
		doc = x.decodeState(n, save).appendDocument(doc[:0])
		return fn(n, doc)
	})
}

// eachSave makes re hold the saves of the ticks from first to last that are not lost, and calls fn
// with each. It is good until fn returns.
func (rec *recording) eachSave(ctx context.Context, x *index, re *rebuilder, first, last int, fn func(n int, save []byte) error) error {
	for first <= last && x.ticks.lost(first) {
		first++
	}
	if first > last {
		return nil
	}
	largest := x.largest(max(first-1, 0), last)
	held, err := formats.Charge(ctx, int64(2*largest))
	if err != nil {
		return err
	}
	defer held.Free()
	if !x.ticks.backup(first) {
		base, err := rec.saves.Get(ctx, first-1)
		if err != nil {
			return err
		}
		re.start(base, largest)
	}
	err = x.saveLines(ctx, rec.At(ctx), first, last, func(n int, text []byte) error {
		if x.ticks.lost(n) {
			return nil
		}
		if err := x.replay(re, n, text, false); err != nil {
			return err
		}
		if size := int64(x.ticks.size(n)); int64(len(re.save)) != size { // the log is another one now
			return nodes.SizeError(size, int64(len(re.save)))
		}
		return fn(n, re.save)
	})
	if err == nil && !x.ticks.lost(last) {
		save := re.release()
		rec.saves.Put(last, save, int64(cap(save))) // the next block is built on it
	}
	return err
}

// appendDocument lays out compact JSON as a document.
func appendDocument(dst, compact []byte) []byte {
	return append(jsonenc.AppendIndented(dst, compact), '\n')
}

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

// clock finds saves by the times in their documents, unless these are null. Times go back where
// somebody set the clock, so the search for the last one begins at the end.
func clock(indexed func(context.Context) (*index, error)) nodes.Clock {
	return nodes.Clock{
		Start: func(ctx context.Context) (time.Time, error) {
			x, err := indexed(ctx)
			if err != nil {
				return time.Time{}, err
			}
			for n := range x.ticks.len() {
				if t, ok := x.utc(n); ok {
					return t, nil
				}
			}
			return time.Time{}, iofs.ErrNotExist
		},
		Tick: func(ctx context.Context, at time.Time) (int64, error) {
			x, err := indexed(ctx)
			if err != nil {
				return 0, err
			}
			last := true
			for n := x.ticks.len() - 1; n >= 0; n-- {
				switch t, ok := x.utc(n); {
				case !ok:
					continue
				case last && t.Before(at):
					return 0, iofs.ErrNotExist
				case !t.After(at):
					return int64(n), nil
				}
				last = false
			}
			return 0, iofs.ErrNotExist
		},
	}
}

// utc returns the time of tick n. ok is false if it is none.
func (x *index) utc(n int) (time.Time, bool) { return utc(x.ticks.at(n).clock, x.zone(n)) }

// stateText returns a document of states/.
func (rec *recording) stateText(ctx context.Context, n int64) ([]byte, error) {
	return rec.ofTick(ctx, func(ctx context.Context) ([]byte, error) { return rec.documents.Get(ctx, n) })
}

// loadDocument decodes the save of tick n and makes its document.
func (rec *recording) loadDocument(ctx context.Context, n int64) (doc []byte, cost int64, err error) {
	x, err := rec.sound(ctx, int(n))
	if err != nil {
		return nil, 0, err
	}
	save, err := rec.saves.Get(ctx, int(n))
	if err != nil {
		return nil, 0, err
	}
	held, err := formats.Charge(ctx, stateCost+2*mapRows*rowCost+thingCost/objectSize*min(int64(len(save)), maxShown))
	if err != nil {
		return nil, 0, err
	}
	defer held.Free()
	s := x.decodeState(int(n), save)
	if err := held.Grow(documentPerState * s.cost()); err != nil {
		return nil, 0, err
	}
	doc = s.appendDocument(nil)
	return doc, int64(cap(doc)), nil
}

// A liveLog reads the log of a game that may be running, without a lock: one held by a stranger
// would stop the game (docs/formats/nethack.md section 9). But for the few bytes that are rewritten
// in place, what is written stays until a recovery cuts the log, which changes the recovery count
// first. So bytes are good if the count is the same before and after they are read.
type liveLog struct {
	r     nodes.ReaderAt
	size  int64
	count [countSize]byte
}

// live returns the bytes of a log for reads that notice when it is cut after its header was read. A
// copy of a compressed one is not.
func live(in formats.Input, h *header) nodes.ReaderAt {
	if in.Raw != nil {
		return in.ReaderAt
	}
	return &liveLog{r: in.ReaderAt, size: in.Size, count: [countSize]byte(h.lines[countAt:])}
}

// ReadAt implements nodes.ReaderAt. It fails with nodes.ErrStale once the log was cut.
func (l *liveLog) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := l.r.ReadAt(ctx, p, off)
	if n < len(p) && off+int64(n) < l.size && (err == nil || errors.Is(err, io.EOF)) {
		return 0, fmt.Errorf("the log was cut at %d: %w", off+int64(n), nodes.ErrStale)
	}
	var count [countSize]byte
	if _, err := l.r.ReadAt(ctx, count[:], countAt); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if !bytes.Equal(count[:], l.count[:]) {
		return 0, fmt.Errorf("the game was recovered: %w", nodes.ErrStale)
	}
	return n, err
}
