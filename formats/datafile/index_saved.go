package datafile

import (
	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

// Append appends the index as it is kept on disk.
func (x *index) Append(b []byte) []byte { return indexfile.Append(b, x.code) }

// code writes or reads an index.
//
//	| size of the file | credits: 4 × text | count | problem … |
func (x *index) code(c indexfile.Codec) {
	c.Values(&x.size)
	for i := range x.credits {
		c.Values(&x.credits[i])
	}
	c.Problems((*[]formats.Problem)(&x.problems))
}

// readIndex reads what Append of an index wrote, if the file has the size that it had.
func readIndex(_ formats.Input, h formats.Head, saved []byte) (formats.Index, error) {
	x := &index{}
	if err := indexfile.Read(formatName, saved, x.code); err != nil {
		return nil, err
	}
	if x.size != h.(*Tables).size {
		return nil, formats.ErrOther
	}
	return x, nil
}
