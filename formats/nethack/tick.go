package nethack

import (
	"bytes"
	"iter"
)

// A tick is a save line.
type tick struct {
	off, end int64  // end: behind the newline
	clock    uint64 // after the line
	line     int    // number in the log, from 1
	turn     int32  // -1: the tick is lost
	size     int32  // of the save
	tz       int32  // seconds that the clock is ahead of UTC
	nth      int32  // among the saves of its turn, from 1; 0 is the last of them
	backup   bool
	format   diffFormat
	comp     compression
}

func (t *tick) lost() bool { return t.turn < 0 }

// What the byte of flags of a tick has from bit 0 on.
const (
	backupFlag  = 1 << 0
	formatShift = 1 // two bits
	compShift   = 3 // two bits
)

func (t *tick) flags() byte {
	flags := byte(t.format)<<formatShift | byte(t.comp)<<compShift
	if t.backup {
		flags |= backupFlag
	}
	return flags
}

func (t *tick) setFlags(flags byte) {
	t.backup = flags&backupFlag != 0
	t.format = diffFormat(flags >> formatShift & 3)
	t.comp = compression(min(flags>>compShift&3, byte(lz4Block)))
}

// The columns of ticks. Turns and timezones are there as numbers that are not negative.
const (
	offColumn = iota
	lengthColumn
	clockColumn
	lineColumn
	turnColumn
	sizeColumn
	zoneColumn
	flagsColumn
	tickColumns

	turnBias = 1
	zoneBias = 1 << 31
)

// A tickList is the ticks of a log. Of a usual one each takes some 15 bytes.
type tickList struct {
	rows packed
	nth  packed // of the ticks that are named
	last tick   // that was added
}

func (l *tickList) len() int { return l.rows.rows }

// lastTurn returns the turn of the last tick, -1 if that is lost or there is none.
func (l *tickList) lastTurn() int32 {
	if l.len() == 0 {
		return -1
	}
	return l.last.turn
}

func (l *tickList) add(t *tick) {
	l.rows.add(uint64(t.off), uint64(t.end-t.off), t.clock, uint64(t.line), uint64(int64(t.turn)+turnBias),
		uint64(t.size), uint64(int64(t.tz)+zoneBias), uint64(t.flags()))
	l.last = *t
}

// at returns tick n.
func (l *tickList) at(n int) tick {
	var row [tickColumns]uint64
	l.rows.row(n, row[:])
	t := tick{
		off: int64(row[offColumn]), end: int64(row[offColumn] + row[lengthColumn]), clock: row[clockColumn],
		line: int(row[lineColumn]), turn: int32(int64(row[turnColumn]) - turnBias), size: int32(row[sizeColumn]),
		tz: int32(int64(row[zoneColumn]) - zoneBias),
	}
	t.setFlags(byte(row[flagsColumn]))
	if n < l.nth.rows {
		t.nth = int32(l.nth.number(n))
	}
	return t
}

// Single parts of tick n.

func (l *tickList) off(n int) int64 { return int64(l.rows.at(n, offColumn, tickColumns)) }

func (l *tickList) turn(n int) int32 {
	return int32(int64(l.rows.at(n, turnColumn, tickColumns)) - turnBias)
}
func (l *tickList) size(n int) int32 { return int32(l.rows.at(n, sizeColumn, tickColumns)) }
func (l *tickList) zone(n int) int32 {
	return int32(int64(l.rows.at(n, zoneColumn, tickColumns)) - zoneBias)
}
func (l *tickList) lost(n int) bool   { return l.turn(n) < 0 }
func (l *tickList) backup(n int) bool { return l.rows.at(n, flagsColumn, tickColumns)&backupFlag != 0 }

// end returns where tick n ends.
func (l *tickList) end(n int) int64 {
	return l.off(n) + int64(l.rows.at(n, lengthColumn, tickColumns))
}

// memory returns how many bytes the list keeps alive.
func (l *tickList) memory() int64 { return l.rows.memory() + l.nth.memory() }

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
