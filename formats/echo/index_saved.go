package echo

import (
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// values are what is saved of an index besides its rows, as [indexfile.Writer.Value] writes them.
func (x *Index) values() []any {
	return []any{
		&x.End, &x.Bytes, &x.Problems, &x.Ticks, &x.BonesTicks, &x.First, &x.Last, &x.CRC, &x.Events, &x.Scores, &x.Chunks, &x.Tail,
	}
}

// Append appends the index as it is kept on disk.
//
//	| value … | rowcount.Counter of frames, of players |
func (x *Index) Append(b []byte) []byte {
	w := indexfile.Append(b)
	for _, v := range x.values() {
		w.Value(v)
	}
	x.Frames.Write(w)
	x.Players.Write(w)
	return w.Bytes()
}

// DecodeIndex reads what Append wrote. The format is named in errors; text says that sessions are
// stored as text.
func DecodeIndex(format string, text bool, saved []byte) (*Index, error) {
	r, x := indexfile.NewReader(format, saved), &Index{}
	for _, v := range x.values() {
		r.Value(v)
	}
	x.Frames, x.Players = rowcount.Read(r, framesColumns), rowcount.Read(r, playersOf(text))
	x.place()
	return x, r.Close()
}
