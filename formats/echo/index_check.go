package echo

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"recfs/formats"
)

// maxSaved is what a length in a saved index may be. So few of them can be in one that their sum is
// no overflow.
const maxSaved = 1 << 40

// ReadIndex reads what Append of an index wrote for a file of that size. Its numbers are held
// against each other and against the chunks that the header tells of, or UnknownChunks, so that
// nothing that uses it needs to doubt them; sound, unless it is nil, looks at what the format alone
// knows. One that was made of fewer bytes, and says how to go on, may have fewer chunks. text is
// that of DecodeIndex.
func ReadIndex(format string, text bool, saved []byte, size int64, chunks int, sound func(*ChunkInfo) bool) (formats.Index, error) {
	x, err := DecodeIndex(format, text, saved)
	if err != nil {
		return nil, err
	}
	part := x.Bytes < size && x.Tail != nil
	if !x.sound(sound) || chunks != UnknownChunks && (len(x.Chunks) > chunks || len(x.Chunks) < chunks && !part) {
		return nil, formats.Corrupt(format, 0, "the saved index cannot be of this recording")
	}
	if x.Bytes != size && !part {
		return nil, formats.ErrOther
	}
	return x, nil
}

func (x *Index) sound(chunk func(*ChunkInfo) bool) bool {
	switch x.End {
	case EndClean, EndTruncated, EndTrailing:
	default:
		return false
	}
	if x.Bytes < 0 || x.Ticks < 0 {
		return false
	}
	ticks, next := int64(0), int64(0)
	for i := range x.Chunks {
		c := &x.Chunks[i]
		if c.Ticks < 0 || c.FirstTick < next || c.FirstTick > math.MaxInt32 || !c.sound() || chunk != nil && !chunk(c) {
			return false
		}
		ticks += int64(c.Ticks)
		next = c.FirstTick + int64(c.Ticks)
	}
	for _, p := range x.Problems {
		if p.Offset < 0 || p.Chunk != nil && (*p.Chunk < 0 || *p.Chunk >= len(x.Chunks)) {
			return false
		}
	}
	if !slices.IsSortedFunc(x.Events, func(a, b Event) int { return cmp.Compare(a.Tick, b.Tick) }) {
		return false
	}
	if n := max(1, len(x.Chunks)); x.Frames.Chunks() != n || x.Players.Chunks() != n {
		return false
	}
	return x.Ticks == ticks && 0 <= x.BonesTicks && x.BonesTicks <= ticks && json.Valid(x.Scores)
}

// sound reports whether the numbers of a chunk can be true.
func (c *ChunkInfo) sound() bool {
	for _, n := range []int64{c.Offset, c.Stored, c.Size + 1} { // Unreadable is -1
		if n < 0 || n > math.MaxInt64/2 {
			return false
		}
	}
	for _, p := range c.Pieces {
		for _, n := range []int64{int64(p.Frames) - 1, p.Lines - int64(p.Frames), p.Text, p.Disc, p.Players} {
			if n < 0 || n > maxSaved {
				return false
			}
		}
	}
	return c.soundParts()
}

// soundParts reports whether the parts and the pieces of a chunk can be its own.
func (c *ChunkInfo) soundParts() bool {
	frames, stored := 0, int64(0)
	ends := map[int]bool{c.Ticks: true}
	for _, p := range c.Parts {
		if p.Frames < 0 || p.Skip < 0 || p.Stored < 0 {
			return false
		}
		if p.Frames > c.Ticks-frames || p.Skip > c.Stored-stored || p.Stored > c.Stored-stored-p.Skip {
			return false
		}
		frames += p.Frames
		stored += p.Skip + p.Stored
		ends[frames] = true
	}
	if c.Parts != nil && (frames != c.Ticks || stored != c.Stored) {
		return false
	}
	frames = 0
	for _, p := range c.Pieces {
		if p.Frames > PieceFrames || p.Frames > c.Ticks-frames {
			return false
		}
		for i := range p.Frames - 1 {
			if ends[frames+1+i] {
				return false
			}
		}
		frames += p.Frames
		if p.Frames < PieceFrames && p.Lines < pieceText && !ends[frames] {
			return false
		}
	}
	return frames == c.Ticks
}
