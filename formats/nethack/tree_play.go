package nethack

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"recfs/formats"
	"recfs/nodes/play"
)

// screenCost is about what a frame takes while it is made: the rows with monsters and without.
const screenCost = 2*castRows*(16+castColumns) + 64

// screens returns what export/game.cast shows of the ticks from first to before end, and how it is
// without monsters. Rows that stay are there once.
func (rec *recording) screens(ctx context.Context, x *index, first, end int) (*play.Screens, error) {
	n := end - first
	s := &play.Screens{
		Ticks: make([]int64, n), Turns: make([]int64, n), Rows: make([][]string, n), Plain: make([][]string, n),
	}
	for i := range n {
		s.Ticks[i], s.Turns[i] = int64(first+i), int64(x.ticks.turn(first+i))
	}
	before := make([]string, castRows)
	err := rec.eachShown(ctx, x, first, end, screenCost, func(n int, save []byte) error {
		now := x.decodeState(n, save)
		if now.details == nil || now.Hero == nil {
			return nil
		}
		rows, plain := now.terminal(now.overview()), now.terminal(now.remembered())
		share(rows, before)
		share(plain, rows)
		before, s.Rows[n-first], s.Plain[n-first] = rows, rows, plain
		return nil
	})
	return s, err
}

// share makes rows that are those of others the same in memory, and copies the rest out of what they
// are parts of.
func share(rows, others []string) {
	for i, row := range rows {
		if rows[i] = others[i]; row != others[i] {
			rows[i] = strings.Clone(row)
		}
	}
}

// eachEvent calls fn for the events of the ticks from first to before end, until it returns false.
func (rec *recording) eachEvent(ctx context.Context, x *index, first, end int, fn func(play.Event) bool) error {
	held, err := formats.Charge(ctx, x.eventBytes(first, end))
	if err != nil {
		return err
	}
	defer held.Free()
	err = x.visit(ctx, rec.At(ctx), first, end, func(n int, ev *events) error {
		for e := range ev.all() {
			if !fn(play.Event{Tick: int64(n), Kind: e.kind, Text: e.words()}) {
				return errFull
			}
		}
		return nil
	})
	if err == errFull {
		return nil
	}
	return err
}

// words returns the further keys of an event as a text.
func (e *event) words() string {
	var b []byte
	for i := range e.fields {
		f := &e.fields[i]
		if i > 0 {
			b = append(b, ' ')
		}
		switch {
		case f.text != nil:
			b = append(b, validText(f.text)...)
			continue
		case f.key == "cancelled":
			b = append(b, f.key...)
		case f.items != nil:
			b = append(b, f.key...)
			for _, it := range f.items {
				b = strconv.AppendInt(append(b, ' '), int64(it.id), 10)
				if it.counted {
					b = fmt.Appendf(b, " (%d)", it.count)
				}
			}
		default:
			b = fmt.Appendf(b, "%s %d", f.key, f.number)
		}
	}
	return play.Cut(string(b))
}
