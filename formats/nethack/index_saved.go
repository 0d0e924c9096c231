package nethack

import (
	"bytes"
	"context"
	"errors"
	"math"

	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

var errIndex = errors.New("the saved index does not fit the log")

// The saved index: each part has its bytes in the comment of the function that writes it, and after
// that the one that reads it. Numbers are varints where nothing else is said.

// The least bytes that an element of a list takes, from the rulers below.
const (
	minTick    = 8
	minProblem = 5
)

// Append appends the saved form of an index: what does not change when the log grows, and after it the
// lines after the last save, of which the rest is made again.
//
//	| recovery count | lines | commands | problems not listed | open problem zigzag |
//	| offset of the first time step zigzag | count | tick … | count | problem … | heroes | commands |
//	| size of the log | [tail blob] |
//
// heroes and commands are what rowcount.Counter writes.
func (x *index) Append(b []byte) []byte {
	w := indexfile.Append(b)
	w.Uint(uint64(x.header.count))
	w.Count(x.at.lines)
	w.Count(x.at.commands)
	w.Count(x.at.unlisted)
	w.Int(int64(x.at.open))
	w.Int(x.at.firstStep)
	w.Count(x.ticks.len())
	last := tick{end: x.header.size, clock: x.header.start}
	for i := range x.ticks.len() {
		t := x.ticks.at(i)
		writeTick(w, &t, &last)
		last = t
	}
	w.Count(x.at.problems)
	for i := range x.problems[:x.at.problems] {
		writeProblem(w, &x.problems[i])
	}
	x.heroes.Write(w)
	x.commands.Write(w)
	w.Size(x.size)
	indexfile.WriteOptional(w, x.savedTail(), w.Blob)
	return w.Bytes()
}

// savedTail returns the tail, nil if it is too long to be kept.
func (x *index) savedTail() *[]byte {
	if x.tail == nil {
		return nil
	}
	return &x.tail
}

// decodeIndex reads what Append wrote.
func decodeIndex(saved []byte, h *header) (*index, error) {
	r := indexfile.NewReader(name, saved)
	if r.Uint(math.MaxUint32) != uint64(h.count) {
		return nil, errIndex
	}
	x := &index{header: h}
	x.at = mark{
		lines: readInt(r), commands: readInt(r), unlisted: readInt(r), open: int(r.Int()), firstStep: r.Int(),
	}
	if !x.readTicks(r) {
		return nil, errIndex
	}
	n := r.Count(minProblem)
	if n > maxProblems {
		return nil, errIndex
	}
	for range n {
		x.problems = append(x.problems, readProblem(r))
	}
	x.at.problems = len(x.problems)
	x.heroes, x.commands = rowcount.Read(r, heroesColumns), rowcount.Read(r, commandsColumns)
	size, tail := r.Size(), indexfile.ReadOptional(r, r.Blob)
	if r.Close() != nil || !x.sound() || tail == nil || !x.finish(*tail, size) {
		return nil, errIndex
	}
	return x, nil
}

// finish goes on over the lines after the last save, and reports whether they can be those of a log of the
// size.
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

// readInt reads a number from 0 to the greatest int.
func readInt(r *indexfile.Reader) int { return int(r.Uint(math.MaxInt)) }

// readTicks reads the save lines, and reports whether they can follow each other.
func (x *index) readTicks(r *indexfile.Reader) bool {
	n := r.Count(minTick)
	if n > maxTicks {
		return false
	}
	last := tick{end: x.header.size, clock: x.header.start}
	for i := range n {
		t := readTick(r, &last)
		if !t.follows(&last) {
			return false
		}
		if t.backup || i == 0 {
			x.chunks.add(uint64(i))
		}
		x.ticks.add(&t)
		last = t
	}
	return true
}

// A tick is written as what it differs in from the one before:
//
//	| offset - end before | length | clock zigzag | line | turn zigzag | size zigzag | tz zigzag |
//	| flags u8: backup bit 0, format bits 1 and 2, compression bits 3 and 4 |
func writeTick(w *indexfile.Writer, t, last *tick) {
	w.Size(t.off - last.end)
	w.Size(t.end - t.off)
	w.Int(int64(t.clock - last.clock))
	w.Count(t.line - last.line)
	w.Int(int64(t.turn - last.turn))
	w.Int(int64(t.size - last.size))
	w.Int(int64(t.tz) - int64(last.tz))
	w.U8(t.flags())
}

func readTick(r *indexfile.Reader, last *tick) tick {
	t := tick{off: last.end + r.Size()}
	t.end = t.off + r.Size()
	t.clock = last.clock + uint64(r.Int())
	t.line = last.line + readInt(r)
	t.turn = last.turn + int32(r.Int())
	t.size = last.size + int32(r.Int())
	t.tz = int32(int64(last.tz) + r.Int())
	t.setFlags(r.U8())
	return t
}

// | code u8 | offset | chunk + 1 | count | message text |
func writeProblem(w *indexfile.Writer, p *problem) {
	w.U8(uint8(p.code))
	w.Size(p.off)
	w.Count(p.chunk + 1)
	w.Count(p.count)
	w.Text(p.message)
}

func readProblem(r *indexfile.Reader) problem {
	p := problem{code: problemCode(r.U8()), off: r.Size(), chunk: readInt(r) - 1, count: readInt(r), message: r.Text()}
	if p.code >= problemCodes {
		r.Fail("a problem of code %d", p.code)
	}
	return p
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

// sound reports whether what a saved index says besides its ticks can be true.
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
	case m.firstStep != -1 && (m.firstStep < x.header.size || m.firstStep >= x.reach()):
		return false
	case m.open < -1, m.open >= len(x.problems), m.open >= 0 && x.problems[m.open].code != lostSaves:
		return false
	}
	for i := range x.problems {
		p := &x.problems[i]
		if p.off < 0 || p.off > x.reach() || p.chunk < -1 || p.chunk >= x.chunks.rows || p.count < 0 || p.count > lines {
			return false
		}
	}
	return true
}
