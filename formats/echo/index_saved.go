package echo

import (
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// Append appends the index as it is kept on disk.
func (x *Index) Append(b []byte) []byte {
	w := indexfile.Append(b)
	x.code(indexfile.Codec{W: w}, false) // a Counter knows its columns
	return w.Bytes()
}

// DecodeIndex reads what Append wrote. The format is named in errors; text says that sessions are
// stored as text.
func DecodeIndex(format string, text bool, saved []byte) (*Index, error) {
	r, x := indexfile.NewReader(format, saved), &Index{}
	x.code(indexfile.Codec{R: r}, text)
	x.place()
	return x, r.Close()
}

// code writes or reads the index: its values, then the rows of its tables.
func (x *Index) code(c indexfile.Codec, text bool) {
	for _, v := range []any{
		&x.End, &x.Bytes, &x.Problems, &x.Ticks, &x.BonesTicks, &x.First, &x.Last, &x.CRC, &x.Events, &x.Scores, &x.Chunks, &x.Tail,
	} {
		c.Whole(v)
	}
	rowcount.Code(c, &x.Frames, framesColumns)
	rowcount.Code(c, &x.Players, playersOf(text))
}
