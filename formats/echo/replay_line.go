package echo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"
	"unicode/utf8"
	"unsafe"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

const (
	stampLen   = 23  // yyyy/MM/dd HH:mm:ss.fff
	minSession = 800 // what is shorter is an error of the API
)

// A lineKind is what a line of the text is.
type lineKind uint8

const (
	frameLine lineKind = iota
	emptyLine          // blank, or the API had nothing to tell
	badLine
)

// line reads one line. What follows the last tab may be a space alone, unless the text ends there:
// then more is to come.
func (r *lineParser) line(b []byte) (f replayFrame, kind lineKind) {
	ends := bytes.HasSuffix(b, []byte{'\n'})
	stamp, rest, ok := bytes.Cut(trim(b), []byte{'\t'})
	if !ok {
		return f, emptyLine
	}
	session, bones, _ := bytes.Cut(rest, []byte{'\t'})
	if len(session) < minSession {
		return f, emptyLine
	}
	f.session, f.bones = bytes.TrimLeft(session, spaces), bytes.TrimLeft(bones, spaces)
	if f.Time, ok = parseStamp(stamp); !ok || !r.sound && (!isObject(f.session) || len(bones) > 0 && !isObject(f.bones) && !(ends && len(f.bones) == 0)) {
		return f, badLine
	}
	r.read(&f)
	return f, frameLine
}

// isObject reports whether b, which begins with no space, is a JSON object.
func isObject(b []byte) bool {
	return len(b) > 0 && b[0] == '{' && json.Valid(b)
}

// parseStamp reads a timestamp by the places of its digits.
func parseStamp(b []byte) (ms int64, ok bool) {
	if len(b) != stampLen {
		return 0, false
	}
	var n [7]int
	for i, at := range [...][2]int{{0, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 16}, {17, 19}, {20, 23}} {
		for _, c := range b[at[0]:at[1]] {
			if c < '0' || c > '9' {
				return 0, false
			}
			n[i] = n[i]*10 + int(c-'0')
		}
	}
	if n[1] < 1 || n[1] > 12 || n[2] < 1 || n[2] > 31 || n[3] > 23 || n[4] > 59 || n[5] > 60 {
		return 0, false
	}
	return time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*1e6, time.UTC).UnixMilli(), true
}

// A replayFrame is a frame with the text of its documents. They are JSON, but may have bytes that
// are not UTF-8.
type replayFrame struct {
	Frame
	session, bones []byte
}

// read reads from the session what events, scores and tables are made of.
func (r *lineParser) read(f *replayFrame) {
	f.Kind, f.Lacks = Other, LacksFrame
	r.Walker = jsonenc.Walk(f.session)
	sessionObject.read(r, &f.Frame, &f.Lacks)
	for _, part := range frameParts {
		if f.Lacks.Of(part.first, part.n) != 1<<part.n-1 {
			f.Has |= part.has
		}
	}
	if f.Kind == Combat {
		f.Has &^= HasStatus | HasRestart | HasRules | HasScore
	}
	if !r.lean && hasBones(f.bones) {
		f.Has |= HasBones
	}
}

// frameParts are the parts that a frame has if it has any value of them.
var frameParts = [...]struct {
	has      Has
	first, n int
}{
	{HasStatus, LacksStatus, 1},
	{HasRestart, LacksRestart, 2},
	{HasPause, LacksPause, 3},
	{HasScore, LacksScore, 7},
	{HasThrow, LacksThrow, len(Throw{})},
	{HasRules, LacksRules, 2},
}

// hasBones reports whether a document has the bones of any player.
func hasBones(bones []byte) bool {
	w := jsonenc.Walk(bones)
	for key := range w.Members() {
		if string(key) == `"user_bones"` {
			for range w.Elements(1) {
				return true
			}
		} else {
			w.Value()
		}
	}
	return false
}

// A replayChunk is the frames of a stretch of text.
type replayChunk struct {
	lineParser
	frames  []replayFrame
	skip    int64 // bytes before the first
	size    int64 // from there on
	kept    int64 // bytes that are kept of the lines of frames
	longest int64
	held    *formats.Held
}

// charge charges the next line.
func (c *replayChunk) charge(b []byte) error {
	n := int64(len(b))
	c.longest = max(c.longest, n)
	return c.held.Grow(max(textCost(c.kept+n, c.longest)-c.held.Size(), 0))
}

// add takes the next line. The chunk keeps parts of the line itself, or copies if keep, unless it
// is nil, says that the line will be overwritten.
func (c *replayChunk) add(b []byte, keep func() bool) lineKind {
	f, kind := c.line(b)
	if kind == frameLine {
		if keep != nil && !keep() {
			f.session, f.bones = bytes.Clone(f.session), bytes.Clone(f.bones)
		}
		c.frames = append(c.frames, f)
		c.kept += int64(len(f.session) + len(f.bones))
	}
	if len(c.frames) == 0 {
		c.skip += int64(len(b))
	} else {
		c.size += int64(len(b))
	}
	return kind
}

// chunk returns the frames in the form of the tree.
func (c *replayChunk) chunk(n int, firstTick int64) *Chunk {
	frames := make([]Frame, len(c.frames))
	for i := range c.frames {
		frames[i] = c.frames[i].Frame
	}
	return &Chunk{
		Number: n, FirstTick: firstTick, Frames: frames, Held: c.held,
		Session: func(b []byte, i int) []byte {
			return showText(appendOrdered(b, c.frames[i].session, &sessionObject.shape), len(b))
		},
		Bones: func(b []byte, i int) []byte {
			if frames[i].Has&HasBones == 0 {
				return b
			}
			return showText(appendOrdered(b, c.frames[i].bones, bonesShape), len(b))
		},
		Room: func(i int) int {
			f := &c.frames[i]
			n := len(f.session) + len(f.bones)
			if n > freeLine && !(utf8.Valid(f.session) && utf8.Valid(f.bones)) {
				n *= len("\ufffd")
			}
			return n
		},
	}
}

// Chunk reads chunk n, or a part of it, from where the index says. It returns how much memory the
// chunk takes.
func (r *replayReader) Chunk(ctx context.Context, n int, info *ChunkInfo) (*Chunk, int64, error) {
	c := &replayChunk{}
	cost := info.Stored
	err := r.lines(ctx, info, nil, func(b []byte) error {
		c.add(b, nil)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	for i := range c.frames {
		cost += int64(unsafe.Sizeof(c.frames[i]))
		for t := range c.frames[i].Teams {
			cost += int64(len(c.frames[i].Teams[t].Players)) * int64(unsafe.Sizeof(Player{}))
		}
	}
	return c.chunk(n, info.FirstTick), cost, nil
}

// lines calls fn for each line of a chunk, or of a part of it, with its end. The text is read into
// room if it fits.
func (r *replayReader) lines(ctx context.Context, info *ChunkInfo, room []byte, fn func([]byte) error) error {
	held, err := formats.Charge(ctx, textCost(info.Stored, 0))
	if err != nil {
		return err
	}
	defer held.Free()
	text, err := r.chunkText(ctx, info, room)
	for err == nil && len(text) > 0 {
		end := bytes.IndexByte(text[:min(len(text), maxLine)], '\n') + 1
		if end == 0 {
			end = min(len(text), maxLine)
		}
		err = fn(text[:end:end])
		text = text[end:]
	}
	return err
}

// texts have memory for the text of chunks that are read line by line, as much as is not charged.
var texts = sync.Pool{New: func() any { return new([]byte) }}

var errMore = errors.New("more frames than the index knows")

// visit calls fn for each frame of a chunk, or of a part of it, with what tables need. In a chunk
// without damage the lines are JSON, as the pass has checked.
func (r *replayReader) visit(ctx context.Context, _ int, info *ChunkInfo, fn func(*Frame) error) (ok bool, err error) {
	read := lineParser{lean: true, sound: !info.Damaged}
	frames := 0
	m := texts.Get().(*[]byte)
	*m = slices.Grow((*m)[:0], int(min(info.Stored, freeText)))
	defer texts.Put(m)
	err = r.lines(ctx, info, *m, func(b []byte) error {
		f, kind := read.line(b)
		if kind != frameLine {
			return nil
		}
		if frames++; frames > info.Ticks {
			return errMore
		}
		return fn(&f.Frame)
	})
	if err == errMore {
		return false, nil
	}
	return err == nil, err
}
