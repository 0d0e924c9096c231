package nethack

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"recfs/formats"
	"recfs/nodes"
)

// checkpointEvery is how many diffs at most are applied to make a save whose chain was read before. A
// chain of more than maxCheckpoints times as many has its checkpoints further apart.
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
	defer rebuilders.Put(re)
	re.save = nil
	from := first
	if n > first {
		base, err := rec.base(ctx, x, first, n, &from)
		if err != nil {
			return nil, 0, err
		}
		re.start(base, x.largest(from, n))
	}
	err = x.rebuild(ctx, rec.src.At(ctx), re, from, n)
	save := re.release()
	if size := int64(x.ticks[n].size); err == nil && int64(len(save)) != size {
		err = nodes.SizeError(size, int64(len(save)))
	}
	return save, int64(cap(save)), err
}

// rebuilders are kept for their buffers.
var rebuilders = sync.Pool{New: func() any { return new(rebuilder) }}

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
		size = max(size, x.ticks[i].size)
	}
	return int(size)
}

// sound returns the index, in which tick n is not lost.
func (rec *recording) sound(ctx context.Context, n int) (*index, error) {
	x, err := rec.indexed(ctx, n)
	if err != nil {
		return nil, err
	}
	if t := &x.ticks[n]; t.lost() {
		return nil, formats.Corrupt(name, t.off, "the save of tick %d is lost", n)
	}
	return x, nil
}

// A savesDir lists every save under its turn. A turn without a save opens as the save in force, at index
// Len + turn.
type savesDir struct{ rec *recording }

func (d *savesDir) index(ctx context.Context) (*index, error) {
	return d.rec.index.Get(ctx, struct{}{})
}

// Len implements nodes.Dir.
func (d *savesDir) Len(ctx context.Context) (int, error) {
	x, err := d.index(ctx)
	if err != nil {
		return 0, err
	}
	return len(x.names.listed), nil
}

// At implements nodes.Dir.
func (d *savesDir) At(ctx context.Context, i int) (nodes.Entry, error) {
	x, err := d.index(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	listed := x.names.listed
	if i >= 0 && i < len(listed) {
		k := int(listed[i])
		return nodes.Entry{Name: x.ticks[k].saveName(), File: d.file(x, k)}, nil
	}
	turn := i - len(listed)
	if i < 0 || turn > maxTurn {
		return nodes.Entry{}, notExist(fmt.Sprint(i))
	}
	k, err := x.inForce(int32(turn))
	if err != nil {
		return nodes.Entry{}, err
	}
	return nodes.Entry{Name: saveName(int32(turn), 0), File: d.file(x, k)}, nil
}

// Find implements nodes.Dir.
func (d *savesDir) Find(ctx context.Context, file string) (int, error) {
	turn, nth, ok := parseSaveName(file)
	if !ok {
		return 0, notExist(file)
	}
	x, err := d.index(ctx)
	if err != nil {
		return 0, err
	}
	if i, ok := x.names.find(x.ticks, saveName(turn, nth)); ok {
		return i, nil
	}
	if nth > 0 {
		return 0, notExist(file)
	}
	if _, err := x.inForce(turn); err != nil {
		return 0, err
	}
	return len(x.names.listed) + int(turn), nil
}

func (d *savesDir) file(x *index, n int) nodes.File {
	return nodes.Sized(int64(x.ticks[n].size), func(ctx context.Context) ([]byte, error) {
		return d.rec.saves.Get(ctx, n)
	})
}

const maxTurn = 1<<31 - 1

// parseSaveName reads a name in saves/, whose numbers may have fewer zeros. A name with a dot has nth > 0.
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

// inForce returns the tick whose save was in force in a turn that has none of its own.
func (x *index) inForce(turn int32) (int, error) {
	k, ok := x.names.inForce(turn)
	if !ok {
		return 0, notExist(saveName(turn, 0))
	}
	if k+1 < len(x.ticks) && x.ticks[k+1].lost() {
		return 0, formats.Corrupt(name, x.ticks[k+1].off, "the save of turn %d is lost", turn)
	}
	return k, nil
}

func notExist(file string) error {
	return &fs.PathError{Op: "find", Path: file, Err: fs.ErrNotExist}
}
