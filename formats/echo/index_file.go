package echo

import (
	"math"

	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// The saved index: each part has its bytes in the comment of the function that writes it, and after
// that the one that reads it. Numbers are varints where nothing else is said.

// The least bytes that elements of lists take: a chunk has nine numbers and empty lists, and a bool.
const (
	minChunk = 10
	minPart  = 3
	minPiece = 4
)

// Append appends the index as it is kept on disk.
//
//	| end text | bytes | count | problem … | ticks | bones ticks | first zigzag | last zigzag |
//	| crc | events blob | scores blob | rowcount.Counter of frames, of players | count | chunk … |
//	| tail blob |
func (x *Index) Append(b []byte) []byte {
	w := indexfile.Append(b)
	w.Text(x.End)
	w.Size(x.Bytes)
	w.Count(len(x.Problems))
	for i := range x.Problems {
		w.Problem(&x.Problems[i])
	}
	w.Size(x.Ticks)
	w.Size(x.BonesTicks)
	w.Int(x.First)
	w.Int(x.Last)
	w.Uint(uint64(x.CRC))
	w.Blob(x.Events)
	w.Blob(x.Scores)
	x.Frames.Write(w)
	x.Players.Write(w)
	w.Count(len(x.Chunks))
	for i := range x.Chunks {
		writeChunk(w, &x.Chunks[i])
	}
	w.Blob(x.Tail)
	return w.Bytes()
}

// DecodeIndex reads what Append wrote. The format is named in errors; text says that sessions are stored as text.
func DecodeIndex(format string, text bool, saved []byte) (*Index, error) {
	r := indexfile.NewReader(format, saved)
	x := &Index{End: r.Text(), Bytes: r.Size()}
	for range r.Count(indexfile.MinProblem) {
		x.Problems = append(x.Problems, r.Problem())
	}
	x.Ticks, x.BonesTicks, x.First, x.Last = r.Size(), r.Size(), r.Int(), r.Int()
	x.CRC = uint32(r.Uint(math.MaxUint32))
	x.Events, x.Scores = r.Blob(), r.Blob()
	x.Frames, x.Players = rowcount.Read(r, framesColumns), rowcount.Read(r, playersOf(text))
	x.Chunks = make([]ChunkInfo, r.Count(minChunk))
	for i := range x.Chunks {
		x.Chunks[i] = readChunk(r)
	}
	x.Tail = r.Blob()
	return x, r.Close()
}

// | first tick | offset | stored | size zigzag | damaged bool | state blob | lines | tick sizes |
// | count | part … | count | piece … |
//
// lines, tick sizes: | count | length - length before zigzag … |
//
// part: | skip | stored | frames |
//
// piece: | frames | text | disc | players |
func writeChunk(w *indexfile.Writer, c *ChunkInfo) {
	w.Size(c.FirstTick)
	w.Size(c.Offset)
	w.Size(c.Stored)
	w.Int(c.Size)
	w.Bool(c.Damaged)
	w.Blob(c.State)
	writeLengths(w, c.Lines)
	writeLengths(w, c.TickSizes)
	w.Count(len(c.Parts))
	for _, p := range c.Parts {
		w.Size(p.Skip)
		w.Size(p.Stored)
		w.Count(p.Frames)
	}
	w.Count(len(c.Pieces))
	for _, p := range c.Pieces {
		w.Count(p.Frames)
		w.Size(p.Text)
		w.Size(p.Disc)
		w.Size(p.Players)
	}
}

func readChunk(r *indexfile.Reader) ChunkInfo {
	c := ChunkInfo{FirstTick: r.Size(), Offset: r.Size(), Stored: r.Size(), Size: r.Int(), Damaged: r.Bool(), State: r.Blob()}
	c.Lines, c.TickSizes = readLengths(r), readLengths(r)
	frames := func() int { return int(r.Uint(uint64(len(c.Lines)))) }
	for range r.Count(minPart) {
		c.Parts = append(c.Parts, Part{r.Size(), r.Size(), frames()})
	}
	for range r.Count(minPiece) {
		c.Pieces = append(c.Pieces, PieceSizes{frames(), r.Size(), r.Size(), r.Size()})
	}
	return c
}

// writeLengths writes differences: neighbours are of about the same length.
func writeLengths(w *indexfile.Writer, list []uint32) {
	w.Count(len(list))
	last := int64(0)
	for _, n := range list {
		w.Int(int64(n) - last)
		last = int64(n)
	}
}

func readLengths(r *indexfile.Reader) []uint32 {
	list := make([]uint32, r.Count(1))
	last := int64(0)
	for i := range list {
		last += r.Int()
		if last < 0 || last > math.MaxUint32 {
			r.Fail("a length of %d", last)
			last = 0
		}
		list[i] = uint32(last)
	}
	return list
}
