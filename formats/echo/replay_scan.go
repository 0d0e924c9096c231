package echo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/flate"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/internal/wire"
)

const (
	chunkFrames = 300
	chunkText   = 64 << 20
	partText    = 8 << 20 // of a part of a chunk; most chunks have less
	maxLine     = 10 << 20
)

// newReplayReader opens the archive, if it is one, and looks for the first frame.
func newReplayReader(ctx context.Context, r formats.ReaderAt, size int64) (*replayReader, error) {
	h, err := openHead(ctx, r, size)
	if err != nil {
		return nil, err
	}
	d := newContainer(h, r)
	lines, err := newLineReader(ctx, io.LimitReader(d.text(ctx), maxLine))
	if err != nil {
		return nil, err
	}
	defer lines.held.Free()
	var first lineParser
	for {
		b, err := lines.next()
		if formats.IsShort(err) {
			return nil, err
		}
		if f, kind := first.line(b); kind == frameLine {
			h.kind, h.session = f.Kind, ofMatch(f.session)
			return d, nil
		}
		if err != nil {
			return d, nil // the index says what is wrong
		}
	}
}

// trim returns a line without its end, and without the byte order mark that the first may have.
func trim(b []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(withoutMark(b), []byte{'\n'}), []byte{'\r'})
}

// A lineReader gives lines with their ends.
type lineReader struct {
	r    *bufio.Reader
	buf  []byte
	held *formats.Held // buf, beyond freeLine
}

// freeLine is the length up to which a line is not charged. Those of a match have some 70 KiB at
// most.
const freeLine = 256 << 10

func newLineReader(ctx context.Context, r io.Reader) (*lineReader, error) {
	held, err := formats.Charge(ctx, 0)
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), held: held}, err
}

// next returns the next line, or maxLine bytes of a longer line. With an error it returns the bytes
// before the error.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	for {
		b, err := l.r.ReadSlice('\n')
		if err := l.grow(len(l.buf) + len(b)); err != nil {
			return nil, err
		}
		l.buf = append(l.buf, b...)
		if err != bufio.ErrBufferFull || len(l.buf) >= maxLine {
			if err == bufio.ErrBufferFull {
				err = nil
			}
			return l.buf, err
		}
	}
}

// grow makes room for a line of n bytes.
func (l *lineReader) grow(n int) error {
	if n <= cap(l.buf) {
		return nil
	}
	size := max(n, min(4*cap(l.buf), maxLine), 64<<10)
	if err := l.held.Grow(max(int64(size)-freeLine-l.held.Size(), 0)); err != nil {
		return err
	}
	l.buf = append(make([]byte, 0, size), l.buf...)
	return nil
}

// keep gives up the memory of the line to the caller, and reports whether it did. It does not if
// the line fills less than half of that memory.
func (l *lineReader) keep() bool {
	if len(l.buf) < cap(l.buf)/2 {
		return false
	}
	l.buf = nil
	l.held.Free()
	return true
}

// Scan returns the index of the text in the first bytes of the file. It may go on from an earlier
// index of fewer bytes. If these are not all bytes of the file, the index has only chunks that no
// further bytes can change, and parts of the next one.
func (r *replayReader) Scan(ctx context.Context, size int64, earlier formats.Index) (*Index, error) {
	b, err := Resume(earlier, "", true)
	if err != nil {
		return nil, err
	}
	s := &replayScan{chunks: len(b.Chunks), problems: b.Problems, part: size < r.size, end: size}
	if s.chunks > 0 {
		last := &b.Chunks[s.chunks-1]
		s.at, s.ticks = last.Offset+last.Stored, last.FirstTick+int64(last.Ticks)
	}
	if s.flow, err = r.flowFrom(ctx, earlier, s.at); err != nil {
		return nil, err
	}
	defer s.lines.held.Free()
	defer s.stored.Bind(ctx)()
	x, err := b.Scan(ctx, s.next)
	if err != nil {
		return nil, err
	}
	x.End, x.Bytes = EndClean, size
	switch {
	case !s.part:
		s.finish(r, x)
	case s.paused && !s.met:
		s.flow.at, s.lines.buf = s.at, nil
		x.Open = s.flow
	}
	x.Problems = s.problems
	return x, nil
}

// finish says how the text ends.
func (s *replayScan) finish(r *replayReader, x *Index) {
	if s.failed != nil || r.cut {
		x.End = EndTruncated
		s.problem(CodeTruncated, s.at, "the text ends here: "+s.why(r))
	} else if r.sum != nil && *r.sum != s.sum.Sum32() {
		s.problem(CodeChecksum, 0, "the CRC-32 of the text is not that of the archive")
	}
	if r.layout == layoutZip && !r.cut {
		x.Tail = nil
	}
}

// The text of a part is charged from freeText on: its lines, which stay in memory, and room to
// render the longest.
const freeText = partText + freeLine

// textCost returns how much is charged for a part, given its text and its longest line.
func textCost(text, longest int64) int64 {
	if n := text + longest; n > freeText {
		return n
	}
	return 0
}

// A replayScan is where a pass over the text is.
type replayScan struct {
	*flow
	end      int64 // of the bytes that may be read
	part     bool  // there is more behind them
	paused   bool  // close before the end
	at       int64 // in the text
	chunks   int
	ticks    int64
	ended    bool
	failed   error // of the reader
	problems []formats.Problem

	// Of the chunk that is open.
	begun    bool  // there is one, some of whose parts were given
	text     int64 // bytes
	frames   int
	bad      int
	firstBad int64 // where it begins
}

func (s *replayScan) why(r *replayReader) string {
	if s.failed != nil {
		return wire.Explain(s.failed).Error()
	}
	return "the archive " + r.entry + " has no directory"
}

func (s *replayScan) problem(code string, offset int64, msg string) {
	p := formats.Problem{Code: code, Offset: offset, Message: msg}
	if s.chunks > 0 {
		p.Chunk = new(s.chunks - 1)
	}
	s.problems = append(s.problems, p)
}

// next reads the next part of a chunk.
func (s *replayScan) next(ctx context.Context) (*Chunk, ChunkInfo, error) {
	info := ChunkInfo{Offset: s.at}
	if s.paused = s.part && !s.begun && s.reached(s.end); s.paused {
		return nil, info, nil
	}
	c := &replayChunk{}
	var err error
	if c.held, err = formats.Charge(ctx, 0); err != nil {
		return nil, info, err
	}
	for !s.full() && c.size < partText {
		if err := s.line(c); err != nil {
			return nil, info, err
		}
	}
	if s.ended && s.part && !s.begun || s.frames == 0 && s.bad == 0 {
		c.held.Free()
		return nil, info, nil // blank lines at the end, or what goes on behind it
	}
	out := c.chunk(s.chunks, s.ticks)
	if out.Continues, out.Skip = s.begun, c.skip; s.begun {
		out.Number--
	} else {
		s.chunks++
	}
	closed := s.full()
	s.begun, out.Open = true, s.ended || !closed
	s.ticks += int64(len(c.frames))
	info.Stored = s.at - info.Offset
	info.Size = info.Stored
	if closed {
		info.Damaged = s.close()
	}
	return out, info, nil
}

// full reports whether the open chunk ends here.
func (s *replayScan) full() bool {
	return s.ended || s.frames == chunkFrames || s.text >= chunkText && s.frames+s.bad > 0
}

// close ends the open chunk, and reports whether it is damaged.
func (s *replayScan) close() bool {
	if s.bad > 0 {
		s.problem("line_damaged", s.firstBad, fmt.Sprintf("%d lines are no frames, the first begins here", s.bad))
	}
	damaged := s.bad > 0 || s.failed != nil
	s.begun, s.text, s.frames, s.bad = false, 0, 0, 0
	return damaged
}

// line reads a line into a part of the open chunk.
func (s *replayScan) line(c *replayChunk) error {
	b, readErr := s.lines.next()
	if readErr != nil && readErr != io.EOF && !damaged(readErr) {
		return readErr
	}
	s.sum.Write(b)
	if err := c.charge(b); err != nil {
		return err
	}
	switch c.add(b, s.lines.keep) {
	case frameLine:
		s.frames++
	case badLine:
		if s.bad == 0 {
			s.firstBad = s.at
		}
		s.bad++
	}
	s.at += int64(len(b))
	s.text += int64(len(b))
	if readErr != nil {
		if s.ended = true; readErr != io.EOF {
			s.failed = readErr
		}
	}
	return nil
}

// damaged reports whether an error says that the text is damaged. The inflater reports some damaged
// code tables as an error of its own.
func damaged(err error) bool {
	var (
		corrupt  flate.CorruptInputError
		internal flate.InternalError
	)
	return err == io.ErrUnexpectedEOF || errors.As(err, &corrupt) || errors.As(err, &internal)
}

// chunkText returns the text of a chunk, in room if it fits.
func (r *replayReader) chunkText(ctx context.Context, info *ChunkInfo, room []byte) ([]byte, error) {
	b := slices.Grow(room[:0], int(info.Stored))[:info.Stored]
	if n, err := r.ReadAt(ctx, b, info.Offset); n < len(b) {
		return nil, formats.ShortRead(replayName, info.Offset+int64(n), err)
	}
	return b, nil
}

// ofMatch returns what the head keeps of a session: all of it or, if it is long, what Match reads.
func ofMatch(session []byte) []byte {
	if len(session) <= freeLine {
		return bytes.Clone(session)
	}
	b := []byte{'{'}
	for key, v := range members(session) {
		if matchObject.place(key, 0) >= 0 {
			b = matchObject.appendMember(b, 1, -1, key, v)
		}
	}
	return append(b, '}')
}

// Match returns what is the same in all frames, as the first frame has it.
func (c *replayHead) Match() *Match {
	m := &Match{}
	matchObject.read(&lineParser{Walker: jsonenc.Walk(c.session)}, m, nil)
	return m
}
