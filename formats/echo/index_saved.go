package echo

import (
	"math"

	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// The saved index: each part has its bytes in the comment of the function that writes it, and after
// that the one that reads it. Numbers are varints where nothing else is said.

// The least bytes that elements of lists take: a chunk has eight numbers and empty lists, and a bool.
const (
	minChunk = 9
	minPart  = 3
	minPiece = 5
	minEvent = 5
)

// Append appends the index as it is kept on disk.
//
//	| end text | bytes | count | problem … | ticks | bones ticks | first zigzag | last zigzag |
//	| crc | count | event … | scores blob | rowcount.Counter of frames, of players | count | chunk … |
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
	w.Count(len(x.Events))
	for i := range x.Events {
		writeEvent(w, &x.Events[i])
	}
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
	for range r.Count(minEvent) {
		x.Events = append(x.Events, readEvent(r))
	}
	x.Scores = r.Blob()
	x.Frames, x.Players = rowcount.Read(r, framesColumns), rowcount.Read(r, playersOf(text))
	x.Chunks = make([]ChunkInfo, r.Count(minChunk))
	for i := range x.Chunks {
		x.Chunks[i] = readChunk(r)
	}
	x.Tail = r.Blob()
	x.place()
	return x, r.Close()
}

// | first tick | ticks | offset | stored | size zigzag | damaged bool | state blob | count | part … | count | piece … |
//
// part: | skip | stored | frames |
//
// piece: | frames | lines | text | disc | players |
func writeChunk(w *indexfile.Writer, c *ChunkInfo) {
	w.Size(c.FirstTick)
	w.Count(c.Ticks)
	w.Size(c.Offset)
	w.Size(c.Stored)
	w.Int(c.Size)
	w.Bool(c.Damaged)
	w.Blob(c.State)
	w.Count(len(c.Parts))
	for _, p := range c.Parts {
		w.Size(p.Skip)
		w.Size(p.Stored)
		w.Count(p.Frames)
	}
	w.Count(len(c.Pieces))
	for _, p := range c.Pieces {
		w.Count(p.Frames)
		w.Size(p.Lines)
		w.Size(p.Text)
		w.Size(p.Disc)
		w.Size(p.Players)
	}
}

func readChunk(r *indexfile.Reader) ChunkInfo {
	frames := func() int { return int(r.Uint(math.MaxInt32)) }
	c := ChunkInfo{
		FirstTick: r.Size(), Ticks: frames(), Offset: r.Size(), Stored: r.Size(), Size: r.Int(), Damaged: r.Bool(), State: r.Blob(),
	}
	for range r.Count(minPart) {
		c.Parts = append(c.Parts, Part{r.Size(), r.Size(), frames()})
	}
	for range r.Count(minPiece) {
		c.Pieces = append(c.Pieces, Piece{frames(), r.Size(), r.Size(), r.Size(), r.Size()})
	}
	return c
}

// | tick | time zigzag | kind text | rest blob | has player bool, [identity] |
func writeEvent(w *indexfile.Writer, e *Event) {
	w.Size(e.Tick)
	w.Int(e.Time)
	w.Text(e.Kind)
	w.Blob(e.Rest)
	if w.Bool(e.Player != nil); e.Player != nil {
		e.Player.write(w)
	}
}

func readEvent(r *indexfile.Reader) Event {
	e := Event{Tick: r.Size(), Time: r.Int(), Kind: r.Text(), Rest: r.Blob()}
	if r.Bool() {
		k := readIdentity(r)
		e.Player = &k
	}
	return e
}
