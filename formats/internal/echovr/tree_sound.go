package echovr

import (
	"encoding/json"
	"math"
)

// maxSaved is what a length in a saved index may be. So few of them can be in one that their sum is
// no overflow.
const maxSaved = 1 << 40

// sound reports whether a saved index can be of this recording: its numbers are held against each
// other and against what the file tells without it, so that nothing that uses it needs to doubt
// them.
func (t *Tree) sound(x *Index) bool {
	if n := t.rec.NumChunks; n != UnknownChunks && n != len(x.Chunks) {
		return false
	}
	switch x.End {
	case EndClean, EndTruncated, EndTrailing:
	default:
		return false
	}
	ticks, next := int64(0), int64(0)
	for i := range x.Chunks {
		c := &x.Chunks[i]
		if c.FirstTick < next || c.FirstTick > math.MaxInt32 || !c.sound() || t.rec.Sound != nil && !t.rec.Sound(c) {
			return false
		}
		ticks += int64(c.Ticks())
		next = c.FirstTick + int64(c.Ticks())
	}
	for _, p := range x.Problems {
		if p.Offset < 0 || p.Chunk != nil && (*p.Chunk < 0 || *p.Chunk >= len(x.Chunks)) {
			return false
		}
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
	if len(c.TickSizes) != len(c.Lines) {
		return false
	}
	for i, n := range c.Lines {
		if n == 0 || c.TickSizes[i] == 0 {
			return false
		}
	}
	for _, p := range c.Pieces {
		for _, n := range []int64{p.Text, p.Disc, p.Players} {
			if n < 0 || n > maxSaved {
				return false
			}
		}
	}
	return true
}
