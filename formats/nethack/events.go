package nethack

import (
	"bytes"
	"iter"
)

// events are the lines between two saves, up to maxEventText. They are parsed anew each time they
// are gone through, as parsed events would take a hundred times as much memory as the shortest
// lines.
type events struct {
	clock uint64 // before them
	off   int64  // where they begin
	text  []byte

	// Memory to use.
	event, command event
	answers        []byte
}

// add adds the next line, which is no save.
func (ev *events) add(l line) {
	if len(ev.text) == 0 {
		ev.off = l.off
	}
	ev.text = append(append(ev.text, l.text...), '\n')
}

// manyText is how much memory is kept for the lines that come next. Those of real saves take some
// hundred bytes.
const manyText = 64 << 10

// forget forgets all events. Those that come next begin at a clock.
func (ev *events) forget(clock uint64) {
	if cap(ev.text) > manyText {
		*ev = events{}
	}
	ev.text, ev.clock = ev.text[:0], clock
}

// all goes through the events. Each is good until the next one, and may be changed.
func (ev *events) all() iter.Seq[*event] {
	return func(yield func(*event) bool) {
		e, clock, off := &ev.event, ev.clock, ev.off
		for rest := ev.text; len(rest) > 0; {
			end := bytes.IndexByte(rest, '\n')
			text := rest[:end]
			rest = rest[end+1:]
			step, isStep := parseStep(text)
			clock += step
			if isStep && off > ev.off && !e.timed {
				e.timed, e.clock = true, clock
			} else {
				if off > ev.off && !yield(e) {
					return
				}
				if *e = (event{off: off, fields: e.fields[:0]}); isStep {
					e.kind, e.timed, e.clock = kindTime, true, clock
				} else {
					e.parse(text)
				}
			}
			off += int64(end + 1)
		}
		if len(ev.text) > 0 {
			yield(e)
		}
	}
}

// len returns the number of events.
func (ev *events) len() (n int) {
	for range ev.all() {
		n++
	}
	return n
}

// commands goes through the commands. Each comes with its answers as JSON: the events up to the
// next command. Times are those of a player in timezone tz. Command and answers are good until the
// next command. each, if not nil, is called with every event.
func (ev *events) commands(tz int32, each func(*event)) iter.Seq2[*event, []byte] {
	return func(yield func(*event, []byte) bool) {
		answers := ev.answers[:0] // none before the first command
		for e := range ev.all() {
			if each != nil {
				each(e)
			}
			switch {
			case e.kind != kindCommand && len(answers) > 0:
				answers = appendEvent(appendComma(answers), e, tz)
			case e.kind == kindCommand:
				if len(answers) > 0 && !yield(&ev.command, append(answers, ']')) {
					return
				}
				ev.command, *e = *e, ev.command
				answers = append(answers[:0], '[')
			}
		}
		if len(answers) > 0 {
			yield(&ev.command, append(answers, ']'))
		}
		ev.answers = answers
	}
}

// appendComma appends a comma behind an element of a list.
func appendComma(dst []byte) []byte {
	if dst[len(dst)-1] == '[' {
		return dst
	}
	return append(dst, ',')
}
