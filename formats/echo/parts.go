package echo

// A ChunkInfo is what the index knows of one chunk.
type ChunkInfo struct {
	FirstTick      int64
	Offset, Stored int64 // where it lies in the file
	Size           int64 // of its bytes; Unreadable if they cannot be had
	Damaged        bool
	State          []byte   // what its decoder has to start from, in the words of the format
	Parts          []Part   // that are decoded one by one; nil: it is one itself
	Lines          []uint32 // length of each line in lines/
	TickSizes      []uint32 // of each file in ticks/
	Pieces         []PieceSizes
	crc            uint32
	continues      bool  // it is a part of the chunk before it
	skip           int64 // of the part
}

// Unreadable is the Size of a chunk whose bytes cannot be had.
const Unreadable = -1

// PieceSizes are how many frames a piece of a chunk has, and its lengths in the files of export/.
type PieceSizes struct {
	Frames              int
	Text, Disc, Players int64
}

// Ticks returns how many frames of the chunk are readable.
func (c *ChunkInfo) Ticks() int { return len(c.Lines) }

// A Part is a run of frames of a chunk that is decoded by itself.
type Part struct {
	Skip   int64 // bytes before it in which there are none
	Stored int64 // its bytes in the file
	Frames int
}

// addPart adds c to the parts of a chunk.
func (c *ChunkInfo) addPart(to *ChunkInfo) {
	to.Parts = append(to.Parts, Part{c.skip, c.Stored - c.skip, c.Ticks()})
}

// parts returns how many parts there are.
func (c *ChunkInfo) parts() int { return max(1, len(c.Parts)) }

// part returns what a decoder has to know of a part, as of a chunk.
func (c *ChunkInfo) part(n int) *ChunkInfo {
	if c.Parts == nil {
		return c
	}
	p := &ChunkInfo{FirstTick: c.FirstTick, Offset: c.Offset, State: c.State, Damaged: c.Damaged}
	first := 0
	for _, before := range c.Parts[:n] {
		first += before.Frames
		p.Offset += before.Skip + before.Stored
	}
	p.FirstTick += int64(first)
	p.Offset += c.Parts[n].Skip
	p.Stored, p.Size = c.Parts[n].Stored, c.Parts[n].Stored
	p.Lines = c.Lines[first : first+c.Parts[n].Frames]
	return p
}

// partOf returns the part in which a frame lies, and which of its frames it is.
func (c *ChunkInfo) partOf(frame int) (part, i int) {
	for ; part < len(c.Parts)-1 && frame >= c.Parts[part].Frames; part++ {
		frame -= c.Parts[part].Frames
	}
	return part, frame
}

// piece returns the first frame of a piece.
func (c *ChunkInfo) piece(n int) (first int) {
	for _, p := range c.Pieces[:n] {
		first += p.Frames
	}
	return first
}

// soundParts reports whether the parts and the pieces of a chunk can be its own.
func (c *ChunkInfo) soundParts() bool {
	frames, stored := 0, int64(0)
	ends := map[int]bool{}
	for _, p := range c.Parts {
		if p.Frames > len(c.Lines)-frames || p.Skip > c.Stored-stored || p.Stored > c.Stored-stored-p.Skip {
			return false
		}
		frames += p.Frames
		stored += p.Skip + p.Stored
		ends[frames] = true
	}
	if c.Parts != nil && (frames != len(c.Lines) || stored != c.Stored) {
		return false
	}
	frames = 0
	if len(c.Pieces) > c.mostPieces() {
		return false
	}
	for _, p := range c.Pieces {
		if p.Frames > len(c.Lines)-frames {
			return false
		}
		for i := range p.Frames - 1 {
			if ends[frames+1+i] {
				return false
			}
		}
		frames += p.Frames
	}
	return frames == len(c.Lines)
}

// mostPieces is how many pieces a chunk can have: each but the last of a part has PieceFrames frames, or pieceText bytes of
// lines.
func (c *ChunkInfo) mostPieces() int {
	lines := int64(0)
	for _, n := range c.Lines {
		lines += int64(n)
	}
	return len(c.Lines)/PieceFrames + int(lines/pieceText) + c.parts()
}
