package echoreplay

import (
	"bytes"
	"context"
	"slices"
	"unicode/utf8"
	"unsafe"

	"recfs/formats"
	"recfs/formats/internal/echovr"
)

// A chunk is the frames of a stretch of text.
type chunk struct {
	frames  []frame
	skip    int64 // bytes before the first
	size    int64 // from there on
	kept    int64 // bytes of the lines of frames, as they are kept
	longest int64
	held    *formats.Held
}

// charge counts a line that comes next.
func (c *chunk) charge(b []byte) error {
	n := int64(len(b)) + copyCost(b)
	c.longest = max(c.longest, n)
	return c.held.Grow(max(textCost(c.kept+n, c.longest)-c.held.Size(), 0))
}

// copyCost returns what the documents of a line take beside it: a byte that is not UTF-8 becomes a U+FFFD, which has
// three.
func copyCost(b []byte) int64 {
	if utf8.Valid(b) {
		return 0
	}
	return 3 * int64(len(b))
}

// add takes the next line. The chunk keeps it, or a copy of its frame.
func (c *chunk) add(b []byte, reused bool) line {
	if reused && !utf8.Valid(b) { // its documents are copies, but maybe not all
		b, reused = bytes.Clone(b), false
	}
	f, kind := parseLine(trim(b))
	if kind == frameLine {
		if reused {
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

// chunk returns the frames as the tree takes them.
func (c *chunk) chunk(n int, firstTick int64) *echovr.Chunk {
	frames := make([]echovr.Frame, len(c.frames))
	for i := range c.frames {
		frames[i] = c.frames[i].Frame
	}
	return &echovr.Chunk{
		Number: n, FirstTick: firstTick, Frames: frames, Held: c.held,
		Session: func(b []byte, i int) []byte {
			return appendOrdered(grow(b, c.frames[i].session), c.frames[i].session, sessionShape)
		},
		Bones: func(b []byte, i int) []byte {
			if frames[i].Has&echovr.HasBones == 0 {
				return b
			}
			return appendOrdered(grow(b, c.frames[i].bones), c.frames[i].bones, bonesShape)
		},
	}
}

// grow makes room for a document, and for what may stand behind it.
func grow(b, document []byte) []byte { return slices.Grow(b, len(document)+16) }

// Chunk reads chunk n, or a part of it, which lies where the index says, and returns how many bytes it keeps.
func (r *Reader) Chunk(ctx context.Context, n int, info *echovr.ChunkInfo) (*echovr.Chunk, int64, error) {
	held, err := formats.Charge(ctx, textCost(info.Stored, 0))
	if err != nil {
		return nil, 0, err
	}
	defer held.Free()
	text, err := r.chunkText(ctx, info)
	if err != nil {
		return nil, 0, err
	}
	c := &chunk{}
	cost := int64(len(text))
	for len(text) > 0 {
		end := bytes.IndexByte(text[:min(len(text), maxLine)], '\n') + 1
		if end == 0 {
			end = min(len(text), maxLine)
		}
		if err := held.Grow(copyCost(text[:end])); err != nil {
			return nil, 0, err
		}
		c.add(text[:end:end], false)
		text = text[end:]
	}
	cost = max(cost, c.kept)
	for i := range c.frames {
		cost += int64(unsafe.Sizeof(c.frames[i]))
		for t := range c.frames[i].Teams {
			cost += int64(len(c.frames[i].Teams[t].Players)) * int64(unsafe.Sizeof(echovr.Player{}))
		}
	}
	return c.chunk(n, info.FirstTick), cost, nil
}
