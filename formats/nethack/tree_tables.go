package nethack

import (
	"context"
	"errors"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/nodes"
)

// A tables makes the tables of a log: of its bytes and its index, which the first who asks makes.
type tables struct {
	formats.Input
	index func(context.Context) (*index, error)
}

// makers returns what makes the tables.
func (t *tables) makers() []columnar.Maker {
	groups := func(of func(x *index) []columnar.Group) func(context.Context) ([]columnar.Group, error) {
		return func(ctx context.Context) ([]columnar.Group, error) {
			x, err := t.index(ctx)
			if err != nil {
				return nil, err
			}
			return of(x), nil
		}
	}
	return []columnar.Maker{
		columnar.NewMaker(ticksTable, ticksColumns, groups((*index).tickGroups), t.fillTicks),
		columnar.NewMaker(heroesTable, heroesColumns, groups(func(x *index) []columnar.Group { return x.heroes.Groups() }), t.fillHeroes),
		columnar.NewMaker(commandsTable, commandsColumns, groups(func(x *index) []columnar.Group { return x.commandGroups }), t.fillCommands),
	}
}

// errFull ends a visit when there are rows enough.
var errFull = errors.New("all rows are there")

// visit calls fn for all ticks from the start of a chunk on that are shown, with the events of each, until b is full.
// The one after the last are the events that are pending.
func (t *tables) visit(ctx context.Context, b *columnar.Batch, chunk int, fn func(x *index, n int, ev *events)) error {
	x, err := t.index(ctx)
	if err != nil {
		return err
	}
	n := 0
	if chunk > 0 {
		if chunk >= x.chunks.rows {
			return nodes.ErrStale
		}
		n = x.chunks.number(chunk)
	}
	err = x.visit(ctx, t.At(ctx), n, x.ticks.len()+1, func(n int, ev *events) error {
		if fn(x, n, ev); b.Full() {
			return errFull
		}
		return nil
	})
	if errors.Is(err, errFull) {
		return nil
	}
	return err
}

func (t *tables) fillTicks(ctx context.Context, b *columnar.Batch, chunk int) error {
	return t.visit(ctx, b, chunk, func(x *index, n int, ev *events) {
		if n < x.ticks.len() {
			tickRow(b, n, x.ticks.at(n), x.zone(n), ev.len())
		}
	})
}

func (t *tables) fillCommands(ctx context.Context, b *columnar.Batch, chunk int) error {
	return t.visit(ctx, b, chunk, func(x *index, n int, ev *events) {
		x.commandRows(b, n, ev)
	})
}

// fillHeroes rebuilds the saves of whole chunks, one after the other.
func (t *tables) fillHeroes(ctx context.Context, b *columnar.Batch, chunk int) error {
	x, err := t.index(ctx)
	if err != nil {
		return err
	}
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
		err := x.saveLines(ctx, t.At(ctx), first, end-1, func(k int, text []byte) error {
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
