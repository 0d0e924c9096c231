package nethack

import (
	"context"

	"recfs/formats"
	"recfs/nodes"
)

// sizesAtOnce is how many ticks there are in a block, whose sizes are learnt at once: the saves of a block are rebuilt in
// one place, which copies none of them.
const sizesAtOnce = 256

// A sizesKey says of which documents sizes are.
type sizesKey struct {
	block  int
	states bool // or ticks
}

// docSize returns the size of the document of tick n. A single one is made for it; when others beside it are asked for,
// as ls -l does, those of a whole block are learnt at once.
func (rec *recording) docSize(ctx context.Context, n int, states bool) (int64, error) {
	sizes, ok := rec.sizes.Again(ctx, sizesKey{n / sizesAtOnce, states})
	if i := n % sizesAtOnce; ok && i < len(sizes) && sizes[i] > 0 {
		return int64(sizes[i]), nil
	}
	var doc []byte
	var err error
	if states {
		doc, err = rec.stateText(ctx, n)
	} else {
		doc, err = rec.tick(ctx, n)
	}
	return int64(len(doc)), err
}

// loadSizes returns the sizes of the documents of a block, which are less than 256 MiB. 0 is one that only making the
// document tells, or why it cannot be made.
func (rec *recording) loadSizes(ctx context.Context, k sizesKey) (sizes []uint32, cost int64, err error) {
	first := k.block * sizesAtOnce
	x, err := rec.indexed(ctx, first)
	if err != nil {
		return nil, 0, err
	}
	sizes = make([]uint32, min(sizesAtOnce, x.ticks.len()-first))
	if k.states {
		err = rec.stateSizes(ctx, x, first, sizes)
	} else {
		err = rec.tickSizes(ctx, x, first, sizes)
	}
	if _, damaged := formats.Coded(err); damaged {
		err = nil // of the document that is told its size
	}
	return sizes, int64(64 + 4*cap(sizes)), err
}

// stateSizes learns the sizes of the documents in states/ from tick first on.
func (rec *recording) stateSizes(ctx context.Context, x *index, first int, sizes []uint32) error {
	var doc []byte
	return rec.eachSave(ctx, x, &rebuilder{}, first, first+len(sizes)-1, func(n int, save []byte) error {
		doc = x.decodeState(n, save).appendDocument(doc[:0])
		sizes[n-first] = uint32(len(doc))
		return nil
	})
}

// tickSizes learns the sizes of the documents in ticks/ from tick first on.
func (rec *recording) tickSizes(ctx context.Context, x *index, first int, sizes []uint32) error {
	var line, doc []byte
	return x.visit(ctx, rec.At(ctx), first, first+len(sizes), func(n int, ev *events) error {
		line = x.appendTick(line[:0], n, ev)
		doc = appendDocument(doc[:0], line)
		sizes[n-first] = uint32(len(doc))
		return nil
	})
}

// eachSave makes re hold the saves of the ticks from first to last that are not lost, and calls fn with each. It is good
// until fn returns.
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
	return append(nodes.AppendIndented(dst, compact), '\n')
}
