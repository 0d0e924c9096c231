package nethack

import (
	"context"

	"recfs/formats"
	"recfs/nodes"
)

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
