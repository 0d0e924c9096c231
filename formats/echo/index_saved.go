package echo

import (
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
		&x.End, &x.Bytes, &x.Problems, &x.Ticks, &x.BonesTicks, &x.First, &x.Last, &x.CRC, &x.Events, &x.Scores, &x.Chunks, &x.Tail,
	} {
		c.Whole(v)
	}
	rowcount.Code(c, &x.Frames, framesColumns)
	rowcount.Code(c, &x.Players, playersOf(text))
}
