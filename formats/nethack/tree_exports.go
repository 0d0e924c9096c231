package nethack

import (
	"bytes"
	"context"
	"runtime"

	"recfs/formats"
	"recfs/nodes"
)

// version43 is that of all NetHack 4.3, whose states decode. The forks count on, or from 3.
const version43 = "4.003.000"

// exports is the directory of what is made from the whole game (docs/tree/nethack.md sections 7 and 7a).
func (rec *recording) exports() nodes.Dir {
	entries := []nodes.Entry{{Name: "commands.jsonl", Grows: rec.Grows, File: rec.linesFile(commandsView, 0)}}
	if rec.header.version == version43 {
		entries = append(entries,
			nodes.Entry{Name: "hero.csv", Grows: rec.Grows, File: rec.textFile(heroView, 0)},
			nodes.Entry{Name: "game.cast", Grows: rec.Grows, File: rec.textFile(castView, 0)})
	}
	return nodes.List(entries...)
}

// What a row of hero.csv and an event of game.cast take at most, about.
const (
	rowSize   = 200
	eventSize = 3 << 10
)

// eachState calls fn for every tick whose state has its groups, to make size bytes of each. The index counts, too,
// as it is held all the time.
func (rec *recording) eachState(ctx context.Context, x *index, size int64, fn func(*state) error) error {
	held, err := formats.Charge(ctx, x.Memory()+min(size*int64(len(x.ticks)), maxDocument))
	if err != nil {
		return err
	}
	defer held.Free()
	for n := range x.ticks {
		if x.ticks[n].lost() {
			continue
		}
		s, err := rec.states.Get(ctx, n)
		if err != nil {
			return err
		}
		if s.details == nil || s.Hero == nil {
			continue
		}
		if err := fn(s); err != nil {
			return err
		}
	}
	runtime.KeepAlive(x)
	return nil
}

// heroTable makes export/hero.csv.
func (rec *recording) heroTable(ctx context.Context, x *index) ([]byte, error) {
	var doc bytes.Buffer
	table, err := newHeroTable(&doc)
	if err != nil {
		return nil, err
	}
	err = rec.eachState(ctx, x, rowSize, func(s *state) error {
		if err := table.add(s); err != nil {
			return err
		}
		return checkSize(doc.Bytes())
	})
	if err == nil {
		err = table.flush()
	}
	return doc.Bytes(), err
}

// cast makes export/game.cast.
func (rec *recording) cast(ctx context.Context, x *index) ([]byte, error) {
	c := newCast(rec.header)
	err := rec.eachState(ctx, x, eventSize, func(s *state) error {
		now, _ := utc(x.ticks[s.Tick].clock, x.zone(s.Tick))
		c.add(s, now)
		return checkSize(c.doc)
	})
	return c.doc, err
}
