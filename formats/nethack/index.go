package nethack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sort"

	"recfs/formats"
)

// Limits of what one log may hold; the games that exist are a thousand times smaller.
const (
	maxTicks    = 1 << 21
	maxProblems = 100_000
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

// A problem is damage found by the index pass.
type problem struct {
	code    problemCode
	off     int64
	chunk   int // -1: none
	message string
	count   int // of lost saves
}

type problemCode uint8

const (
	badSave problemCode = iota
	lostSaves
	badLine
	clockMismatch
	tooLong // what stands between two saves is not shown
	problemCodes
)

var problemNames = [problemCodes]string{"bad_save", "lost_saves", "bad_line", "clock_mismatch", "too_long"}

// A mark is how far the durable part of an index reaches: to the end of its last save line. What
// follows is an action under way, and read again.
type mark struct {
	lines, commands int
	problems        int
	unlisted        int   // problems beyond maxProblems
	open            int   // problem that counts the diffs without a save, -1: none
	firstStep       int64 // offset of the first time step, -1: none yet
}

// An index knows every save line of a log and which saves can be rebuilt. Making it rebuilds each
// once, because only that finds a wrong checksum, and keeps none.
type index struct {
	header   *header
	ticks    []tick
	chunks   []int // first tick of each
	problems []problem
	at       mark // at the last tick
	now      mark // at the end

	end  int64 // behind the last newline
	size int64
	over bool // the last line is Q
	seal formats.Seal

	names saveNames
}

// An indexer is the pass that makes or continues an index.
type indexer struct {
	*index
	re    rebuilder
	clock uint64
	tz    int32
}

// buildIndex reads a log from its start.
func buildIndex(ctx context.Context, r formats.ReaderAt, size int64, h *header) (*index, error) {
	x := &index{header: h, at: mark{lines: 3, open: -1, firstStep: -1}, end: h.size}
	x.now = x.at
	p := &indexer{index: x, clock: h.start}
	err := p.run(ctx, formats.At(ctx, r), size)
	if err == nil {
		x.seal, err = formats.NewTally(settled{r, h.size}).Seal(ctx, formats.Stamp{}, size)
	}
	return x, err
}

// extend continues an index of which only the durable part is there, to a new size.
func (x *index) extend(ctx context.Context, r io.ReaderAt, size int64) error {
	x.problems = x.problems[:x.at.problems]
	x.now = x.at
	x.end = x.reach()
	p := &indexer{index: x, clock: x.header.start}
	if n := len(x.ticks) - 1; n >= 0 {
		p.clock, p.tz = x.ticks[n].clock, x.ticks[n].tz
		if size > x.end && !x.ticks[n].lost() {
			if err := x.rebuild(ctx, r, &p.re, x.backupOf(n), n); err != nil {
				return err
			}
		}
	}
	return p.run(ctx, r, size)
}

// reach returns where the durable part ends.
func (x *index) reach() int64 {
	if n := len(x.ticks); n > 0 {
		return x.ticks[n-1].end
	}
	return x.header.size
}

// run reads the lines behind the durable part.
func (p *indexer) run(ctx context.Context, r io.ReaderAt, size int64) error {
	p.size = size
	s := newScanner(r, p.end, size)
	for {
		l, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return &formats.Error{Format: name, Offset: p.end, Err: err}
		}
		if p.now.lines%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p.now.lines++
		p.end = l.end
		if !isSaveLine(l.text) {
			p.other(l)
			continue
		}
		if len(p.ticks) == maxTicks {
			return formats.Corrupt(name, l.off, "there are more than %d save lines", maxTicks)
		}
		p.saveLine(l)
	}
	p.checkGap(p.end)
	p.place()
	p.names = nameSaves(p.ticks)
	return nil
}

// other reads a line that is no save.
func (p *indexer) other(l line) {
	p.over = false
	if step, ok := parseStep(l.text); ok && !l.long() {
		p.clock += step
		if p.now.firstStep < 0 {
			p.now.firstStep = l.off
		}
		return
	}
	switch e := parseEvent(l); e.kind {
	case kindCommand:
		p.now.commands++
	case kindUnknown:
		p.problem(badLine, l.off, "the line is not one of a NetHack 4.3 log")
	case kindOver:
		p.over = true
	}
}

func (p *indexer) saveLine(l line) {
	n := len(p.ticks)
	t := tick{off: l.off, end: l.end, line: p.now.lines, turn: -1, backup: l.text[0] == '*'}
	if t.backup || n == 0 {
		p.chunks = append(p.chunks, n)
	}
	p.checkGap(l.off)
	p.place()
	err := p.load(&t, l)
	switch {
	case errors.Is(err, errNoBase):
		p.lose(l.off)
	case err != nil:
		p.now.open = -1
		p.problem(badSave, l.off, fmt.Sprintf("tick %d: %v", n, err))
	default:
		p.now.open = -1
		p.take(&t, n)
	}
	t.clock, t.tz = p.clock, p.tz
	p.ticks = append(p.ticks, t)
	p.place()
	p.over = false
	p.now.problems = len(p.problems)
	p.at = p.now
}

var (
	errNoBase = errors.New("there is no save to start from")
	errLong   = fmt.Errorf("the line is longer than %d bytes", maxLine)
)

// checkGap notes that there is more than maxEventText between the last save line and end.
func (p *indexer) checkGap(end int64) {
	if start := p.reach(); end-start > maxEventText {
		p.problem(tooLong, start, fmt.Sprintf("%d bytes without a save line, more than %d, are not shown", end-start, maxEventText))
	}
}

// load rebuilds the save of a line.
func (p *indexer) load(t *tick, l line) error {
	blob := blobOf(l.text)
	t.comp = compressionOf(blob)
	hasBase := p.re.save != nil
	var err error
	switch {
	case l.long():
		err, p.re.save = errLong, nil
	case t.backup:
		err = p.re.backup(blob)
	case hasBase:
		err = p.re.diff(blob, true)
		t.format = p.re.format
	default:
		p.re.look(blob)
		t.format = p.re.format
	}
	if !t.backup && !hasBase {
		return errNoBase
	}
	return err
}

// take notes what the save says of itself.
func (p *indexer) take(t *tick, n int) {
	t.turn, t.size = saveTurn(p.re.save), int32(len(p.re.save))
	p.tz = saveTimezone(p.re.save)
	if clock := saveClock(p.re.save); clock != p.clock {
		p.problem(clockMismatch, t.off, fmt.Sprintf("tick %d: the clock is at %d, the save at %d", n, p.clock, clock))
		p.clock = clock
	}
}

// lose counts a diff that has no save to start from.
func (p *indexer) lose(off int64) {
	if p.now.open < 0 {
		if !p.problem(lostSaves, off, "") {
			return
		}
		p.now.open = len(p.problems) - 1
	}
	p.problems[p.now.open].count++
}

// problem notes damage, if there is room for it.
func (p *indexer) problem(code problemCode, off int64, message string) bool {
	if len(p.problems) == maxProblems {
		p.now.unlisted++
		return false
	}
	p.problems = append(p.problems, problem{code: code, off: off, chunk: -1, message: message})
	return true
}

// place tells the problems since the last save line their chunk.
func (p *indexer) place() {
	for i := p.at.problems; i < len(p.problems); i++ {
		p.problems[i].chunk = len(p.chunks) - 1
	}
}

// text returns what a problem says to a person.
func (p *problem) text() string {
	if p.code == lostSaves {
		return fmt.Sprintf("diffs without a save to start from: %d", p.count)
	}
	return p.message
}

// blobOf returns the blob of a save line, which ends at a space. The location in front of a backup's
// does not matter.
func blobOf(text []byte) []byte {
	blob := text[1:]
	if text[0] == '*' {
		blob = text[min(len(text), locationSize):]
	}
	if end := bytes.IndexByte(blob, ' '); end >= 0 {
		blob = blob[:end]
	}
	return blob
}

// chunkOf returns the chunk of a tick.
func (x *index) chunkOf(n int) int { return sort.SearchInts(x.chunks, n+1) - 1 }

// chainEnd returns the tick behind the chunk of tick n.
func (x *index) chainEnd(n int) int {
	if c := x.chunkOf(n) + 1; c < len(x.chunks) {
		return x.chunks[c]
	}
	return len(x.ticks)
}

// backupOf returns the backup that the save of tick n is built on.
func (x *index) backupOf(n int) int { return x.chunks[x.chunkOf(n)] }

// rebuild makes re hold the save of tick to. It holds that of tick from, or from is its backup.
// Both are in one chunk, and not lost. Checksums in between were found right by the index pass.
func (x *index) rebuild(ctx context.Context, r io.ReaderAt, re *rebuilder, from, to int) error {
	start := x.ticks[from].end
	k := from + 1
	if x.ticks[from].backup && re.save == nil {
		start, k = x.ticks[from].off, from
	}
	s := newScanner(r, start, x.ticks[to].end)
	for k <= to {
		l, err := s.next()
		if err != nil {
			return &formats.Error{Format: name, Offset: s.off, Err: err}
		}
		if l.off != x.ticks[k].off {
			continue
		}
		if !isSaveLine(l.text) { // the index is not of this log
			return formats.Corrupt(name, l.off, "tick %d is no save line", k)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if x.ticks[k].backup {
			err = re.backup(blobOf(l.text))
		} else {
			err = re.diff(blobOf(l.text), k == to)
		}
		if err != nil {
			return formats.Corrupt(name, l.off, "tick %d: %v", k, err)
		}
		k++
	}
	return nil
}

// zone returns the timezone in force at tick n: the clock is UTC until the first time step.
func (x *index) zone(n int) int32 {
	if x.now.firstStep < 0 || x.now.firstStep > x.ticks[n].off {
		return 0
	}
	return x.ticks[n].tz
}

// What a tick and a problem take in memory, about.
const (
	tickCost    = 68
	problemCost = 64
)

// cost returns about how many bytes the index keeps alive.
func (x *index) cost() int64 {
	n := 512 + len(x.ticks)*tickCost + 8*(len(x.chunks)+len(x.names.turns))
	for i := range x.problems {
		n += problemCost + len(x.problems[i].message)
	}
	return int64(n)
}
