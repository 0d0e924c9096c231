package echo

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"unicode/utf8"
	"unsafe"

	"recfs/formats"
)

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
	f, kind := c.line(trim(b))
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
		f, kind := read.line(trim(b))
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
