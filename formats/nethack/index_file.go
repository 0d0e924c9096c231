package nethack

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// indexVersion is the first byte of a stored index. It is raised whenever the index of the same log would be stored as other
// bytes: with the layout, and with what a pass finds or says.
const indexVersion = 2

var errIndex = errors.New("the stored index does not fit the log")

// encode returns the durable part of the index: what does not change when the log grows.
//
//	version, recovery count, seal of the log but for what the game rewrites
//	lines, commands, problems not listed, problem that is open,
//	offset of the first time step
//	ticks: gap before the line, its length, flags, and the differences to the tick before
//	problems: code, offset, chunk + 1, count, message
func (x *index) encode() []byte {
	b := make([]byte, 0, 64+12*len(x.ticks))
	b = append(b, indexVersion)
	b = binary.LittleEndian.AppendUint32(b, x.header.count)
	b = x.seal.Append(b)
	b = binary.AppendUvarint(b, uint64(x.at.lines))
	b = binary.AppendUvarint(b, uint64(x.at.commands))
	b = binary.AppendUvarint(b, uint64(x.at.unlisted))
	b = binary.AppendVarint(b, int64(x.at.open))
	b = binary.AppendVarint(b, x.at.firstStep)
	b = binary.AppendUvarint(b, uint64(len(x.ticks)))
	last := tick{end: x.header.size, clock: x.header.start}
	for _, t := range x.ticks {
		b = binary.AppendUvarint(b, uint64(t.off-last.end))
		b = binary.AppendUvarint(b, uint64(t.end-t.off))
		b = binary.AppendVarint(b, int64(t.clock-last.clock))
		b = binary.AppendUvarint(b, uint64(t.line-last.line))
		b = binary.AppendVarint(b, int64(t.turn-last.turn))
		b = binary.AppendVarint(b, int64(t.size-last.size))
		b = binary.AppendVarint(b, int64(t.tz)-int64(last.tz))
		b = append(b, flags(&t))
		last = t
	}
	b = binary.AppendUvarint(b, uint64(x.at.problems))
	for _, p := range x.problems[:x.at.problems] {
		b = append(b, byte(p.code))
		b = binary.AppendUvarint(b, uint64(p.off))
		b = binary.AppendUvarint(b, uint64(p.chunk+1))
		b = binary.AppendUvarint(b, uint64(p.count))
		b = binary.AppendUvarint(b, uint64(len(p.message)))
		b = append(b, p.message...)
	}
	return b
}

func flags(t *tick) byte {
	f := byte(t.format)<<1 | byte(t.comp)<<3
	if t.backup {
		f |= 1
	}
	return f
}

// resumeIndex brings a stored index up to the log as it is now.
func resumeIndex(ctx context.Context, src formats.Source, h *header, stored []byte) (*index, error) {
	x, err := decodeIndex(stored, h)
	if err != nil {
		return nil, err
	}
	log := src
	log.ReaderAt = settled{src.ReaderAt, h.size}
	fit, tally, err := x.seal.Fit(ctx, log)
	if err != nil {
		return nil, err
	}
	if fit == formats.Other || x.reach() > src.Size {
		return nil, errIndex
	}
	if x.seal.Stamp = src.Stamp; fit == formats.Grown {
		if x.seal, err = tally.Seal(ctx, src.Stamp, src.Size); err != nil {
			return nil, err
		}
	}
	return x, x.extend(ctx, src.At(ctx), src.Size)
}

// decodeIndex reads what encode wrote.
func decodeIndex(stored []byte, h *header) (*index, error) {
	r := indexReader{wire.NewCursor(name, stored, 0)}
	if r.U8() != indexVersion || r.U32() != h.count {
		return nil, errIndex
	}
	x := &index{header: h}
	x.seal, _, _ = formats.CutSeal(r.Bytes(formats.SealSize)) // if there are too few bytes, r has failed
	x.at = mark{lines: int(r.uint()), commands: int(r.uint()), unlisted: int(r.uint()), open: int(r.int()), firstStep: r.int()}
	ticks := r.uint()
	if ticks > min(uint64(r.Len()/8), maxTicks) { // each takes eight bytes or more
		return nil, errIndex
	}
	x.ticks = slices.Grow(x.ticks, int(ticks))[:ticks]
	last := tick{end: h.size, clock: h.start}
	for i := range x.ticks {
		t := r.tick(last)
		if !t.follows(&last) {
			return nil, errIndex
		}
		if t.backup || i == 0 {
			x.chunks = append(x.chunks, i)
		}
		x.ticks[i], last = t, t
	}
	r.problems(x)
	if r.Err() != nil || r.Len() > 0 || !x.sound() {
		return nil, errIndex
	}
	return x, nil
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

// sound reports whether what a stored index says besides its ticks can be true.
func (x *index) sound() bool {
	lines := 3 // those of the header
	if n := len(x.ticks); n > 0 {
		lines = x.ticks[n-1].line
	}
	m := &x.at
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
		if p.off < 0 || p.off > x.reach() || p.chunk < -1 || p.chunk >= len(x.chunks) || p.count < 0 || p.count > lines {
			return false
		}
	}
	return true
}

// An indexReader reads the values of a stored index.
type indexReader struct{ *wire.Cursor }

func (r indexReader) uint() uint64 { return r.Uvarint(binary.MaxVarintLen64) }

func (r indexReader) int() int64 { return wire.Zigzag(r.uint()) }

func (r indexReader) tick(last tick) tick {
	t := tick{off: last.end + int64(r.uint())}
	t.end = t.off + int64(r.uint())
	t.clock = last.clock + uint64(r.int())
	t.line = last.line + int(r.uint())
	t.turn = last.turn + int32(r.int())
	t.size = last.size + int32(r.int())
	t.tz = int32(int64(last.tz) + r.int())
	f := r.U8()
	t.backup = f&1 != 0
	t.format = diffFormat(f >> 1 & 3)
	t.comp = compression(min(f>>3&3, byte(lz4Block)))
	return t
}

func (r indexReader) problems(x *index) {
	n := r.uint()
	if n > maxProblems {
		r.Fail("more problems than are listed")
	}
	for i := uint64(0); i < n && r.Err() == nil; i++ {
		p := problem{code: problemCode(r.U8()), off: int64(r.uint()), chunk: int(r.uint()) - 1, count: int(r.uint())}
		length := r.uint()
		if p.code >= problemCodes || length > uint64(r.Len()) {
			r.Fail("a problem of the index")
			return
		}
		p.message = string(r.Bytes(int(length)))
		x.problems = append(x.problems, p)
	}
	x.at.problems = len(x.problems)
}

// A settled is a log with zeros in place of what the game rewrites: all of the first two lines but the recovery count,
// which is compared by itself, and the hint in line 4, which starts at offset line4.
type settled struct {
	r     formats.ReaderAt
	line4 int64
}

// ReadAt implements formats.ReaderAt.
func (s settled) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := s.r.ReadAt(ctx, p, off)
	end := off + int64(n)
	for _, part := range [][2]int64{{0, line3At}, {s.line4 + 1, s.line4 + 1 + hintSize}} {
		if start, stop := max(part[0], off), min(part[1], end); start < stop {
			clear(p[start-off : stop-off])
		}
	}
	return n, err
}
