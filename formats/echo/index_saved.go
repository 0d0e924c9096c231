package echo

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// Append appends the index as it is kept on disk.
func (x *Index) Append(b []byte) []byte {
	return indexfile.Append(b, func(c indexfile.Codec) { x.code(c, false) }) // a Counter knows its columns
}

// DecodeIndex reads what Append wrote. The format is named in errors; text says that sessions are
// stored as text.
func DecodeIndex(format string, text bool, saved []byte) (*Index, error) {
	x := &Index{}
	err := indexfile.Read(format, saved, func(c indexfile.Codec) { x.code(c, text) })
	x.place()
	return x, err
}

// code writes or reads the index: its values, then the rows of its tables.
func (x *Index) code(c indexfile.Codec, text bool) {
	for _, v := range []any{
		&x.End, &x.Bytes, &x.Problems, &x.Results, &x.CRC, &x.Events, &x.Chunks, &x.Tail,
	} {
		c.Whole(v)
	}
	rowcount.Code(c, &x.Frames, framesColumns)
	rowcount.Code(c, &x.Players, playersOf(text))
}

// maxSaved is the greatest length in a saved index. An index has too few lengths for their sum to
// overflow.
const maxSaved = 1 << 40

// ReadIndex reads what Append of an index wrote for a file of that size. It checks the numbers
// against each other and against the number of chunks in the header, or UnknownChunks, so that
// nothing else needs to. sound, unless it is nil, checks what only the format knows. An index of
// fewer bytes that says how to go on may have fewer chunks. text is that of DecodeIndex.
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
	if x.Bytes < 0 {
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
	return x.Results.sound(ticks) && (ticks == 0 || json.Valid(x.Points[0]) && json.Valid(x.Points[1]))
}

// sound reports whether the numbers of a chunk are possible.
func (c *ChunkInfo) sound() bool {
	for _, n := range []int64{c.Offset, c.Stored, c.Size + 1} { // Unreadable is -1
		if n < 0 || n > math.MaxInt64/2 {
			return false
		}
	}
	frames, stored := 0, int64(0)
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.Frames < 0 || p.Skip < 0 || p.Stored < 0 || !p.soundPieces() {
			return false
		}
		if p.Frames > c.Ticks-frames || p.Skip > c.Stored-stored || p.Stored > c.Stored-stored-p.Skip {
			return false
		}
		frames += p.Frames
		stored += p.Skip + p.Stored
	}
	return len(c.Parts) > 0 && frames == c.Ticks && stored == c.Stored
}

// soundPieces reports whether the pieces of a part are possible: all but the last must be full.
func (p *Part) soundPieces() bool {
	frames := 0
	for i, s := range p.Pieces {
		lines := s.Sizes[viewLines.number]
		if s.Frames < 1 || lines < int64(s.Frames) {
			return false
		}
		for _, n := range s.Sizes {
			if n < 0 || n > maxSaved {
				return false
			}
		}
		full := s.Frames == PieceFrames || lines >= pieceText
		if s.Frames > PieceFrames || s.Frames > p.Frames-frames || !full && i < len(p.Pieces)-1 {
			return false
		}
		frames += s.Frames
	}
	return frames == p.Frames
}
