package nethack

import (
	"iter"
	"slices"
)

// events collects the events of one tick, line by line.
type events struct {
	list  []event
	clock uint64
}

// add reads the next line, which is no save.
func (ev *events) add(l line) {
	if step, ok := parseStep(l.text); ok {
		ev.step(l, step)
		return
	}
	ev.next().parse(l)
}

// next adds an event, in the memory of one that was forgotten.
func (ev *events) next() *event {
	n := len(ev.list)
	ev.list = slices.Grow(ev.list, 1)[:n+1]
	e := &ev.list[n]
	*e = event{fields: e.fields[:0], line: e.line[:0]}
	return e
}

// Up to manyEvents that are forgotten leave their memory to others, each some 3 KiB: what was read for one is at most
// longEvent bytes, and a menu has an item of 24 bytes for two of these. Real events have about twenty.
const (
	manyEvents = 256
	longEvent  = 256
)

// forget forgets all events. Those that come next begin at a clock.
func (ev *events) forget(clock uint64) {
	if len(ev.list) > manyEvents {
		ev.list = nil
	}
	for i := range ev.list {
		if cap(ev.list[i].line) > longEvent {
			ev.list[i] = event{}
		}
	}
	ev.list, ev.clock = ev.list[:0], clock
}

// step reads a time step, of the event before it if that has none.
func (ev *events) step(l line, step uint64) {
	ev.clock += step
	if n := len(ev.list) - 1; n >= 0 && !ev.list[n].timed {
		ev.list[n].timed, ev.list[n].clock = true, ev.clock
		return
	}
	e := ev.next()
	e.kind, e.off, e.timed, e.clock = kindTime, l.off, true, ev.clock
}

// commandsOf returns the commands of a list, each with the events up to the next one: its answers.
func commandsOf(list []event) iter.Seq2[*event, []event] {
	return func(yield func(*event, []event) bool) {
		for i := 0; i < len(list); {
			e := &list[i]
			answers := i + 1
			for i++; i < len(list) && list[i].kind != kindCommand; i++ {
			}
			if e.kind == kindCommand && !yield(e, list[answers:i]) {
				return
			}
		}
	}
}
