package nethack

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"recfs/formats"
	"recfs/nodes"
)

// checkpointEvery is how many diffs at most make a save of a chain that was read before. A chain of
// more than maxCheckpoints times as many diffs has its checkpoints further apart.
const (
	checkpointEvery = 64
	maxCheckpoints  = 512
)

// loadSave rebuilds the save of tick n from the nearest one in memory, or from a checkpoint: every
// checkpointEvery-th save of a chain, which is built from the one before it, back to the backup.
func (rec *recording) loadSave(ctx context.Context, n int) ([]byte, int64, error) {
	x, err := rec.sound(ctx, n)
	if err != nil {
		return nil, 0, err
	}
	first := x.backupOf(n)
	re := rebuilders.Get().(*rebuilder)
	defer re.reuse()
	re.save = nil
	from := first
	if n > first {
		base, err := rec.base(ctx, x, first, n, &from)
		if err != nil {
			return nil, 0, err
		}
		largest := x.largest(from, n)
		held, err := formats.Charge(ctx, int64(len(base)+largest))
		if err != nil {
			return nil, 0, err
		}
		defer held.Free()
		re.start(base, largest)
	}
	err = x.rebuild(ctx, rec.At(ctx), re, from, n)
	save := re.release()
	if size := int64(x.ticks.size(n)); err == nil && int64(len(save)) != size {
		err = nodes.SizeError(size, int64(len(save)))
	}
	return save, int64(cap(save)), err
}

// rebuilders are kept for their buffers.
var rebuilders = sync.Pool{New: func() any { return new(rebuilder) }}

// How large the buffer and the lists of a rebuilder that is kept may be.
const (
	maxKept      = 1 << 20
	maxKeptEdits = 4 << 10
)

// reuse keeps a rebuilder for its buffers, unless they are large.
func (r *rebuilder) reuse() {
	if cap(r.spare) <= maxKept && len(r.patch.literals) <= maxKeptEdits && len(r.patch.moves) <= maxKeptEdits {
		rebuilders.Put(r)
	}
}

// base returns the save from which that of tick n is rebuilt, and sets from to its tick.
func (rec *recording) base(ctx context.Context, x *index, first, n int, from *int) ([]byte, error) {
	gap := max(checkpointEvery, (x.chainEnd(n)-first)/maxCheckpoints)
	for k := n - 1; k >= max(first, n-gap); k-- {
		if save, ok := rec.saves.Peek(k); ok {
			*from = k
			return save, nil
		}
	}
	*from = n - 1 - (n-1-first)%gap
	return rec.saves.Get(ctx, *from)
}

// largest returns the size of the largest save of ticks from to to.
func (x *index) largest(from, to int) int {
	size := int32(0)
	for i := from; i <= to; i++ {
		size = max(size, x.ticks.size(i))
	}
	return int(size)
}

// sound returns the index, in which tick n is not lost.
func (rec *recording) sound(ctx context.Context, n int) (*index, error) {
	x, err := rec.indexed(ctx, n)
	if err != nil {
		return nil, err
	}
	if x.ticks.lost(n) {
		return nil, formats.Corrupt(name, x.ticks.off(n), "the save of tick %d is lost", n)
	}
	return x, nil
}

// savesDir lists every save under its turn. A turn without a save opens as the save in force.
func (rec *recording) savesDir() nodes.Dir {
	return &nodes.LazySeries{
		List: func(ctx context.Context) (nodes.Dir, error) {
			x, err := rec.Index(ctx)
			return savesList{rec, x}, err
		},
		Unlisted: &nodes.Series{
			Prefix: "turn", Width: turnWidth,
			Extra: func(ctx context.Context, turn int64) (bool, error) {
				_, err := rec.saveInForce(ctx, turn)
				return err == nil, err
			},
			File: func(turn int64) nodes.File {
				return nodes.LazyFile(func(ctx context.Context) (nodes.File, error) { return rec.saveInForce(ctx, turn) })
			},
		},
	}
}

// saveInForce returns the save that was in force in a turn.
func (rec *recording) saveInForce(ctx context.Context, turn int64) (nodes.File, error) {
	x, err := rec.Index(ctx)
	if err != nil {
		return nil, err
	}
	k, err := x.inForce(turn)
	if err != nil {
		return nil, err
	}
	return rec.saveFile(x, k), nil
}

// A saveFile is the save of a tick. Its document is the state that is decoded from it.
type saveFile struct {
	nodes.File
	rec  *recording
	tick int
}

func (rec *recording) saveFile(x *index, n int) nodes.File {
	return &saveFile{nodes.Sized(int64(x.ticks.size(n)), func(ctx context.Context) ([]byte, error) {
		return rec.ofTick(ctx, func(ctx context.Context) ([]byte, error) { return rec.saves.Get(ctx, n) })
	}), rec, n}
}

// Document implements nodes.Documented.
func (f *saveFile) Document(ctx context.Context) (nodes.Entry, error) {
	return nodes.Child(ctx, f.rec.listing(statesDir), strconv.Itoa(f.tick)+".json")
}

// A savesList is the saves that an index has, in the order of their names.
type savesList struct {
	rec *recording
	x   *index
}

// Len implements nodes.Dir.
func (l savesList) Len(context.Context) (int, error) { return l.x.names.byTurn.rows, nil }

// At implements nodes.Dir.
func (l savesList) At(_ context.Context, i int) (nodes.Entry, error) {
	if i < 0 || i >= l.x.names.byTurn.rows {
		return nodes.Entry{}, notExist(fmt.Sprint(i))
	}
	k := l.x.names.listed().number(i)
	return nodes.Entry{Name: l.x.saveName(k), File: l.rec.saveFile(l.x, k)}, nil
}

// Find implements nodes.Dir.
func (l savesList) Find(_ context.Context, file string) (int, error) {
	if turn, nth, ok := parseSaveName(file); ok {
		if i, ok := l.x.findSave(turn, nth); ok {
			return i, nil
		}
	}
	return 0, notExist(file)
}

// parseSaveName reads a name in saves/, whose numbers may have fewer zeros. A name with a dot has
// nth > 0.
func parseSaveName(file string) (turn, nth int32, ok bool) {
	digits, ok := strings.CutPrefix(file, "turn")
	if !ok {
		return 0, 0, false
	}
	digits, suffix, numbered := strings.Cut(digits, ".")
	t, ok := nodes.ParseNumber(digits, turnWidth)
	if !ok || t > maxTurn {
		return 0, 0, false
	}
	if !numbered {
		return int32(t), 0, true
	}
	n, ok := nodes.ParseNumber(suffix, nthWidth)
	return int32(t), int32(n), ok && 0 < n && n <= maxTicks
}
