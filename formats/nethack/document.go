package nethack

import (
	"context"
	"io"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// visit calls fn for the ticks from first to before end, with the events of each, which fn does not
// keep. The tick behind the last one stands for the action under way. A tick whose events are too
// long is left out.
func (x *index) visit(ctx context.Context, r io.ReaderAt, first, end int, fn func(n int, ev *events) error) error {
	if end <= first {
		return nil
	}
	start, ev := x.header.size, &events{clock: x.header.start}
	if first > 0 {
		before := x.ticks.at(first - 1)
		start, ev.clock = before.end, before.clock
	}
	stop := x.end
	if end <= x.ticks.len() {
		stop = x.ticks.off(end - 1)
	}
	s := newScanner(r, start, stop)
	s.most = 1 // the saves between are skipped
	defer s.close()
	for n := first; n < end; n++ {
		off := x.end
		if n < x.ticks.len() {
			off = x.ticks.off(n)
		}
		shown := off-s.off <= maxEventText
		for s.off < off {
			l, err := s.next(ctx)
			if err != nil {
				return &formats.Error{Format: name, Offset: s.off, Err: err}
			}
			if shown {
				ev.add(l)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if shown {
			if err := fn(n, ev); err != nil {
				return err
			}
		}
		if n+1 < end {
			if _, err := s.next(ctx); err != nil {
				return &formats.Error{Format: name, Offset: s.off, Err: err}
			}
			ev.forget(x.ticks.at(n).clock)
		}
	}
	return nil
}

// appendTick appends tick n as compact JSON.
func (x *index) appendTick(dst []byte, n int, ev *events) []byte {
	t, start, kind, save := x.ticks.at(n), len(dst), "diff", ""
	if t.backup {
		kind = "backup"
	}
	if !t.lost() {
		save = t.saveName()
	}
	dst = appendTurn(appendNumber(dst, "tick", n), t.turn)
	dst = appendUTC(jsonenc.AppendKey(dst, "time"), t.clock, x.zone(n))
	dst = appendName(dst, "kind", kind)
	dst = appendName(dst, "diff_format", t.format.String())
	dst = appendName(dst, "compression", t.comp.String())
	dst = appendName(dst, "save", save)
	dst = appendNumber(dst, "line", t.line)
	dst = appendNumber(dst, "offset", t.off)
	dst = appendNumber(dst, "line_end", t.end)
	dst = jsonenc.AppendIf(jsonenc.AppendKey(dst, "size"), !t.lost(), t.size, jsonenc.AppendInt)
	dst = appendEvents(jsonenc.AppendKey(dst, "events"), ev, t.tz)
	return closeObject(dst, start)
}

func appendTurn(dst []byte, turn int32) []byte {
	return jsonenc.AppendIf(jsonenc.AppendKey(dst, "turn"), turn >= 0, turn, jsonenc.AppendInt)
}

// tick returns tick n as compact JSON.
func (x *index) tick(ctx context.Context, r io.ReaderAt, n int) (doc []byte, err error) {
	err = x.visit(ctx, r, n, n+1, func(n int, ev *events) error {
		doc = x.appendTick(nil, n, ev)
		return nil
	})
	if err == nil && doc == nil {
		err = formats.Corrupt(name, x.behind(n-1), "there are more than %d bytes between two saves", maxEventText)
	}
	return doc, err
}

// settled returns the first tick whose line may still change while the game goes on. The last save
// loses its name to the next save of the same turn.
func (x *index) settled() int {
	for n := x.ticks.len() - 1; n >= 0 && !x.over; n-- {
		if !x.ticks.lost(n) {
			return n
		}
	}
	return x.ticks.len()
}

// appendCommands appends the commands that led to tick n, or are pending.
func (x *index) appendCommands(dst []byte, n int, ev *events) []byte {
	tz, turn := x.context(n)
	for e, answers := range ev.commands(tz, nil) {
		start := len(dst)
		dst = jsonenc.AppendIf(jsonenc.AppendKey(dst, "tick"), n < x.ticks.len(), n, jsonenc.AppendInt)
		dst = appendNumber(appendTurn(dst, turn), "offset", e.off)
		dst = appendFields(appendEventTime(dst, e, tz), e.fields)
		dst = append(jsonenc.AppendKey(dst, "answers"), answers...)
		dst = append(closeObject(dst, start), '\n')
	}
	return dst
}

// cut divides the ticks from first to before end into pieces of at most so many. It returns where
// each begins, and end.
func (x *index) cut(first, end, most int) []int {
	cuts := []int{first}
	for n := first; n < end; n++ {
		last := cuts[len(cuts)-1]
		if n > last && (n-last == most || x.behind(n)-x.behind(last-1) > pieceBytes) {
			cuts = append(cuts, n)
		}
	}
	return append(cuts, end)
}

// eventBytes returns how long the lines are between the saves of ticks.
func (x *index) eventBytes(first, end int) (sum int64) {
	for n := first; n < end; n++ {
		off := x.end
		if n < x.ticks.len() {
			off = x.ticks.off(n)
		}
		sum += off - x.behind(n-1)
	}
	return sum
}
