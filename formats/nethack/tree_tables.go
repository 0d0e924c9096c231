package nethack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"recfs/formats"
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

// version43 is that of all NetHack 4.3, whose states decode. The forks count on, or from 3.
const version43 = "4.003.000"

// exports is the directory of what is made from the whole game (docs/tree/nethack.md sections 7 and
// 7a).
func (rec *recording) exports() nodes.Dir {
	entries := []nodes.Entry{{Name: "commands.jsonl", Grows: rec.Grows, File: rec.linesFile(commandsView, 0)}}
	if rec.header.version == version43 {
		entries = append(entries,
			nodes.Entry{Name: "hero.csv", Grows: rec.Grows, File: rec.linesFile(heroView, 0)},
			nodes.Entry{Name: "game.cast", Grows: rec.Grows, File: rec.linesFile(castView, 0)})
	}
	return nodes.List(entries...)
}

// About what a row of hero.csv and an event of game.cast take at most.
const (
	rowSize   = 200
	eventSize = 3 << 10
)

// heroTable makes a piece of export/hero.csv.
func (rec *recording) heroTable(ctx context.Context, x *index, first, end int) (doc []byte, err error) {
	if first == 0 {
		doc = appendHeroColumns(nil)
	}
	var hero heroState
	err = rec.eachShown(ctx, x, first, end, rowSize, func(n int, save []byte) error {
		if readHero(save, &hero) {
			doc = appendHero(doc, n, x.ticks.at(n), x.zone(n), &hero)
		}
		return nil
	})
	return doc, err
}

// cast makes a piece of export/game.cast. It begins at a time, and returns when the next piece
// does.
func (rec *recording) cast(ctx context.Context, x *index, first, end int, at castTime) ([]byte, castTime, error) {
	c := &cast{castTime: at}
	if first == 0 {
		c.begin(rec.header)
	}
	err := rec.eachShown(ctx, x, first, end, eventSize, func(n int, save []byte) error {
		if s := x.decodeState(n, save); s.details != nil && s.Hero != nil {
			now, _ := utcMicros(x.ticks.at(n).clock, x.zone(n))
			c.add(s, now)
		}
		return nil
	})
	return c.doc, c.castTime, err
}

// eachShown is eachSave for the ticks before end, to make size bytes of each.
func (rec *recording) eachShown(ctx context.Context, x *index, first, end int, size int64, fn func(n int, save []byte) error) error {
	held, err := formats.Charge(ctx, size*int64(end-first))
	if err != nil {
		return err
	}
	defer held.Free()
	return rec.eachSave(ctx, x, new(rebuilder), first, end-1, fn)
}

// A namedThing is an object or a monster in a state (docs/tree/nethack.md section 6a).
type namedThing struct {
	Object   string       `json:"object"`
	Artifact string       `json:"artifact"`
	Monster  string       `json:"monster"`
	Name     string       `json:"name"` // given to it
	Contents []namedThing `json:"contents"`
}

// lastThings is the Things of the format.
func lastThings(ctx context.Context, tree nodes.Dir, found formats.Index) (t formats.Things, err error) {
	last := found.(*index).lastSave()
	if last == nil {
		return t, nil
	}
	text, err := nodes.ReadFile(ctx, tree, fmt.Sprintf("states/%d.json", last.Tick))
	if err != nil {
		return t, err
	}
	var state struct {
		Inventory []namedThing `json:"inventory"`
		Monsters  []namedThing `json:"monsters"`
	}
	err = json.Unmarshal(text, &state)
	for _, monster := range state.Monsters {
		t.Monsters = append(t.Monsters, monster.Monster, monster.Name)
	}
	t.Items = itemNames(nil, state.Inventory)
	return t, err
}

// itemNames appends the names of objects and of those in them.
func itemNames(names []string, list []namedThing) []string {
	for _, item := range list {
		names = itemNames(append(names, item.Object, item.Artifact, item.Name), item.Contents)
	}
	return names
}
