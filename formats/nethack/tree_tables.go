package nethack

import (
	"context"
	"errors"

	"recfs/formats/columnar"
	"recfs/formats/views"
	"recfs/nodes"
)

// tables are those of the log.
func (rec *recording) tables() []views.Table[index] {
	return []views.Table[index]{
		{Name: ticksTable, Columns: ticksColumns, Groups: (*index).tickGroups, Fill: rec.fillTicks},
		{Name: heroesTable, Columns: heroesColumns, Groups: func(x *index) []columnar.Group { return x.heroes.Groups() }, Fill: rec.fillHeroes},
		{Name: commandsTable, Columns: commandsColumns, Groups: func(x *index) []columnar.Group { return x.commandGroups }, Fill: rec.fillCommands},
	}
}

// errFull ends a visit when there are rows enough.
var errFull = errors.New("all rows are there")

// visit calls fn for all ticks from the start of a chunk on that are shown, with the events of
// each, until b is full. The one after the last are the events that are pending.
func (rec *recording) visit(ctx context.Context, x *index, b *columnar.Batch, chunk int, fn func(n int, ev *events)) error {
	n := 0
	if chunk > 0 {
		if chunk >= x.chunks.rows {
			return nodes.ErrStale
		}
		n = x.chunks.number(chunk)
	}
	err := x.visit(ctx, rec.At(ctx), n, x.ticks.len()+1, func(n int, ev *events) error {
		if fn(n, ev); b.Full() {
			return errFull
		}
		return nil
	})
	if errors.Is(err, errFull) {
		return nil
	}
	return err
}

func (rec *recording) fillTicks(ctx context.Context, x *index, b *columnar.Batch, chunk, _ int) error {
	return rec.visit(ctx, x, b, chunk, func(n int, ev *events) {
		if n < x.ticks.len() {
			tickRow(b, n, x.ticks.at(n), x.zone(n), ev.len())
		}
	})
}

func (rec *recording) fillCommands(ctx context.Context, x *index, b *columnar.Batch, chunk, _ int) error {
	return rec.visit(ctx, x, b, chunk, func(n int, ev *events) {
		x.commandRows(b, n, ev)
	})
}

// fillHeroes rebuilds the saves of whole chunks, one after the other.
func (rec *recording) fillHeroes(ctx context.Context, x *index, b *columnar.Batch, chunk, _ int) error {
	var hero heroState
	re := &rebuilder{}
	for ; chunk < x.chunks.rows && !b.Full(); chunk++ {
		first := x.chunks.number(chunk)
		end := first
		for end < x.chainEnd(first) && !x.ticks.lost(end) {
			end++
		}
		re.save = nil
		if end == first {
			continue
		}
		err := x.saveLines(ctx, rec.At(ctx), first, end-1, func(k int, text []byte) error {
			if err := x.replay(re, k, text, false); err != nil {
				return err
			}
			if readHero(re.save, &hero) {
				heroRow(b, k, x.ticks.at(k), x.zone(k), &hero)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
