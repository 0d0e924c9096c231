package echovr

// A Part is a run of frames of a chunk that is decoded by itself.
type Part struct {
	Skip   int64 // bytes before it in which there are none
	Stored int64 // its bytes in the file
	Frames int
}

// add takes the next chunk, or the next part of the last one.
func (x *Index) add(c *ChunkInfo) {
	if !c.continues {
		x.Chunks = append(x.Chunks, *c)
		if c.skip > 0 {
			c.addPart(&x.Chunks[len(x.Chunks)-1])
		}
		return
	}
	to := &x.Chunks[len(x.Chunks)-1]
	if to.Parts == nil {
		to.addPart(to)
	}
	if c.Stored > 0 {
		c.addPart(to)
	}
	to.Stored += c.Stored
	to.Size += c.Size
	to.Damaged = to.Damaged || c.Damaged
	to.Lines, to.TickSizes = append(to.Lines, c.Lines...), append(to.TickSizes, c.TickSizes...)
	to.Pieces = append(to.Pieces, c.Pieces...)
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
	p := &ChunkInfo{FirstTick: c.FirstTick, Offset: c.Offset, State: c.State}
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
	for _, p := range c.Pieces {
		for i := range p.Frames - 1 {
			if ends[frames+1+i] {
				return false
			}
		}
		frames += p.Frames
	}
	return frames == len(c.Lines)
}
