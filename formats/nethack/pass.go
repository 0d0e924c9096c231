package nethack

import (
	"context"
	"errors"
	"fmt"
	"io"

	"recfs/formats"
)

// An indexer is the pass that makes or continues an index.
type indexer struct {
	*index
	re    rebuilder
	clock uint64
	tz    int32
	ev    events // since the last save line, none if they are not shown

	hero heroState // that was read last

	charged int // ticks whose memory is counted
}

// buildIndex reads a log from its start.
func buildIndex(ctx context.Context, r io.ReaderAt, size int64, h *header) (*index, error) {
	x := newIndex(h)
	return x, x.extend(ctx, r, size)
}

// extend goes on from the durable part of an index, to a new size.
func (x *index) extend(ctx context.Context, r io.ReaderAt, size int64) error {
	p := x.indexer()
	if n := x.ticks.len() - 1; n >= 0 && size > x.end && !x.ticks.lost(n) {
		if err := x.rebuild(ctx, r, &p.re, x.backupOf(n), n); err != nil {
			return err
		}
	}
	return p.run(ctx, r, size)
}

// indexer returns a pass that goes on from the durable part. It has no save to start from.
func (x *index) indexer() *indexer {
	x.problems = x.problems[:x.at.problems]
	x.now, x.over = x.at, false
	x.end = x.reach()
	p := &indexer{index: x, clock: x.header.start}
	if p.charged = x.ticks.len(); p.charged > 0 {
		p.clock, p.tz = x.ticks.last.clock, x.ticks.last.tz
	}
	return p
}

// run reads the lines behind the durable part.
func (p *indexer) run(ctx context.Context, r io.ReaderAt, size int64) error {
	s := newScanner(r, p.end, size)
	defer s.close()
	if p.charged > 0 {
		if err := s.charge(ctx, int64(p.charged)*nameCost); err != nil {
			return err
		}
	}
	if err := p.lines(ctx, s, p.saveLine); err != nil {
		return err
	}
	p.checkGap(p.end)
	p.countPending()
	p.place()
	p.nameTicks()
	return nil
}

// lines takes in the lines behind the durable part but for saves, which save does.
func (p *indexer) lines(ctx context.Context, s *scanner, save func(l line)) error {
	p.size, p.ev.clock = s.end, p.clock
	for {
		l, err := s.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
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
		if p.ticks.len() == maxTicks {
			return formats.Corrupt(name, l.off, "there are more than %d save lines", maxTicks)
		}
		if err := p.charge(ctx, s, l); err != nil {
			return err
		}
		save(l)
	}
}

// charge counts what the next tick takes.
func (p *indexer) charge(ctx context.Context, s *scanner, l line) error {
	if n := p.ticks.len(); n == p.charged {
		p.charged = p.room(n, l.off)
		if err := s.charge(ctx, int64(p.charged-n)*tickCost); err != nil {
			return err
		}
	}
	return s.chargeSave(ctx, l)
}

// room returns for how many ticks to make room when n of them end at off: for as many as there are
// if the rest are as long, but for no more than four times as many.
func (p *indexer) room(n int, off int64) int {
	rest := float64(max(p.size-off, 0)) / float64(off-p.header.size+1) * float64(n)
	return min(max(n+n/4, n+int(min(rest, maxTicks))*9/8, 64), max(4*n, 64), maxTicks)
}

// other reads a line that is no save.
func (p *indexer) other(l line) {
	step, isStep := parseStep(l.text)
	if p.clock += step; isStep && p.now.firstStep < 0 {
		p.now.firstStep = l.off
	}
	p.over = string(l.text) == gameOver
	if p.shows(l.end) {
		p.ev.add(l)
		return
	}
	p.skip() // what was shown until now
	if l.long() {
		if isCommand(l.text) { // what is wrong with it is not looked for
			p.now.commands++
		}
		return
	}
	p.ev.add(l)
	p.skip()
}

func (p *indexer) saveLine(l line) {
	t := p.tickOf(l)
	p.count(&t)
	p.add(&t)
}

// tickOf returns the tick of a save line.
func (p *indexer) tickOf(l line) tick {
	n := p.ticks.len()
	t := tick{off: l.off, end: l.end, line: p.now.lines, turn: -1, backup: l.text[0] == '*'}
	if t.backup || n == 0 {
		p.beginChunk(n)
	}
	p.checkGap(l.off)
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
	return t
}

// add adds a tick. The index is durable up to there.
func (p *indexer) add(t *tick) {
	p.ticks.add(t)
	p.place()
	p.over = false
	p.now.problems = len(p.problems)
	p.at = p.now
}

var (
	errNoBase = errors.New("there is no save to start from")
	errLong   = fmt.Errorf("the line is longer than %d bytes", maxSaveLine)
)

// shows reports whether the lines between the last save line and end are shown.
func (p *indexer) shows(end int64) bool { return end-p.reach() <= maxEventText }

// checkGap notes that there is more than maxEventText between the last save line and end.
func (p *indexer) checkGap(end int64) {
	if start := p.reach(); !p.shows(end) {
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
		_, _ = p.re.look(blob) // what does not decode is no worse
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
		p.now.open, p.now.lost = len(p.problems)-1, 0
	}
	p.now.lost++
	p.problems[p.now.open].Message = fmt.Sprintf("diffs without a save to start from: %d", p.now.lost)
}

// problem notes damage, if there is room for it.
func (p *indexer) problem(code string, off int64, message string) bool {
	if len(p.problems) == maxProblems {
		p.now.unlisted++
		return false
	}
	p.problems = append(p.problems, formats.Problem{Code: code, Offset: off, Message: message})
	return true
}

// place tells the problems since the last save line their chunk, if there is one.
func (p *indexer) place() {
	for i := p.at.problems; i < len(p.problems) && p.chunks.rows > 0; i++ {
		p.problems[i].Chunk = new(p.chunks.rows - 1)
	}
}
