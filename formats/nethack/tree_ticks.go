package nethack

import (
	"context"

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
