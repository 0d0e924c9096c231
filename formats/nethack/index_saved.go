package nethack

import (
	"bytes"
	"context"
	"errors"

	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

var errIndex = errors.New("the saved index does not fit the log")

// The saved index: each part has its bytes in the comment of the function that writes it, and after
// that the one that reads it. Numbers are varints where nothing else is said.

// minTick is the least bytes that a tick takes, from the ruler below.
const minTick = 8

// Append appends the saved form of an index.
func (x *index) Append(b []byte) []byte {
	var tail *[]byte
	if x.tail != nil { // else it is too long to be kept
		tail = &x.tail
	}
	return indexfile.Append(b, func(c indexfile.Codec) { x.code(c, &x.size, &tail) })
}

// code writes or reads what does not change when the log grows, and the lines after the last save,
// of which the rest is made again.
//
//	| recovery count | lines | commands | problems not listed | open problem + 1 | its saves |
//	| offset of the first time step + 1 | count | tick … | dungeon text | depth zigzag |
//	| count | problem … | heroes | commands |
//	| size of the log | [tail blob] |
//
// heroes and commands are what rowcount.Counter writes.
func (x *index) code(c indexfile.Codec, size *int64, tail **[]byte) {
	m := x.at
	m.open++
	m.firstStep++
	count, ticks := int64(x.header.count), x.ticks.len()
	c.Values(&count, &m.lines, &m.commands, &m.unlisted, &m.open, &m.lost, &m.firstStep, &ticks)
	if c.R != nil && (count != int64(x.header.count) || ticks > min(maxTicks, c.R.Len()/minTick)) {
		c.R.Fail("%d ticks, and a recovery count of %d", ticks, count)
		ticks = 0
	}
	x.codeTicks(c, ticks)
	c.Values(&x.dungeon, &x.depth)
	problems := x.problems[:min(x.at.problems, len(x.problems))]
	c.Whole(&problems)
	rowcount.Code(c, &x.heroes, heroesColumns)
	rowcount.Code(c, &x.commands, commandsColumns)
	c.Values(size)
	c.Whole(tail)
	if c.R != nil {
		m.open--
		m.firstStep--
		m.problems = len(problems)
		x.problems, x.at = problems, m
	}
}

// decodeIndex reads what Append wrote.
func decodeIndex(saved []byte, h *header) (*index, error) {
	var (
		x    = &index{header: h}
		size int64
		tail *[]byte
	)
	err := indexfile.Read(name, saved, func(c indexfile.Codec) { x.code(c, &size, &tail) })
	if err != nil || len(x.problems) > maxProblems || !x.sound() || tail == nil || !x.finish(*tail, size) {
		return nil, errIndex
	}
	return x, nil
}

// finish reads the lines after the last save, and reports whether a log of that size can have them.
func (x *index) finish(tail []byte, size int64) bool {
	if len(tail) > maxEventText {
		return false
	}
	ticks, end := x.ticks.len(), x.reach()+int64(len(tail))
	log := offsetReader{bytes.NewReader(tail), x.reach()}
	if err := x.indexer().run(context.Background(), log, end); err != nil {
		return false
	}
	x.tail, x.size = append([]byte{}, tail...), size
	return x.ticks.len() == ticks && x.end == end && end <= size
}

// codeTicks writes or reads the save lines. Those that are read must be in a possible order.
func (x *index) codeTicks(c indexfile.Codec, n int) {
	last := tick{end: x.header.size, clock: x.header.start}
	for i := range n {
		t := last
		if c.W != nil {
			t = x.ticks.at(i)
		}
		if t.code(c, &last); c.R != nil {
			if !t.follows(&last) {
				c.R.Fail("a save line at %d", t.off)
			}
			if c.R.Err() != nil {
				return
			}
			if t.backup || i == 0 {
				x.chunks.add(uint64(i))
			}
			x.ticks.add(&t)
		}
		last = t
	}
}

// code writes or reads a tick as its differences from the one before:
//
//	| offset - end before | length | clock zigzag | line | turn zigzag | size zigzag | tz zigzag |
//	| flags u8: backup bit 0, format bits 1 and 2, compression bits 3 and 4 |
func (t *tick) code(c indexfile.Codec, last *tick) {
	gap, length, clock, line := t.off-last.end, t.end-t.off, t.clock-last.clock, t.line-last.line
	turn, size, tz, flags := t.turn-last.turn, t.size-last.size, t.tz-last.tz, t.flags()
	c.Values(&gap, &length, &clock, &line, &turn, &size, &tz, &flags)
	t.off, t.end, t.clock, t.line = last.end+gap, last.end+gap+length, last.clock+clock, last.line+line
	t.turn, t.size, t.tz = last.turn+turn, last.size+size, last.tz+tz
	t.setFlags(flags)
}

// follows reports whether a save line can stand after another one.
func (t *tick) follows(last *tick) bool {
	switch {
	case t.off < last.end, t.end <= t.off, t.line <= last.line, int64(t.line) > t.end:
		return false
	case t.lost():
		return t.turn == -1 && t.size == 0
	}
	return minSave <= t.size && t.size <= maxBlob
}

// sound reports whether the rest of a saved index can be true, its ticks aside.
func (x *index) sound() bool {
	lines := 3 // those of the header
	if x.ticks.len() > 0 {
		lines = x.ticks.last.line
	}
	m := &x.at
	if chunks := max(x.chunks.rows, 1); x.heroes.Chunks() != chunks || x.commands.Chunks() != chunks {
		return false
	}
	switch {
	case m.lines != lines, m.commands < 0, m.commands > lines:
		return false
	case m.unlisted != 0 && (m.problems < maxProblems || m.unlisted < 0 || m.unlisted > 4*lines):
		return false
	case m.lost < 0, m.lost > lines:
		return false
	case m.firstStep != -1 && (m.firstStep < x.header.size || m.firstStep >= x.reach()):
		return false
	case m.open < -1, m.open >= len(x.problems), m.open >= 0 && x.problems[m.open].Code != lostSaves:
		return false
	}
	for i := range x.problems {
		p := &x.problems[i]
		if p.Offset < 0 || p.Offset > x.reach() || p.Chunk != nil && (*p.Chunk < 0 || *p.Chunk >= x.chunks.rows) {
			return false
		}
	}
	return true
}
