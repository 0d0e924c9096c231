package datafile

import (
	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

var _ formats.Index = (*index)(nil)

// An index is what a pass over the data finds.
type index struct {
	size     int64     // of the file
	credits  [4]string // who made the map: the texts of Info.Strings, "" where there is none
	problems problemList
}

// Memory is about what the index keeps alive.
func (x *index) Memory() int64 {
	n := x.problems.cost()
	for _, text := range x.credits {
		n += int64(len(text))
	}
	return n
}

// Reach is the end of the file.
func (x *index) Reach(string) int64 { return x.size }

// How a file ends (docs/tree/datafile.md section 3).
const (
	endClean     = "clean"          // where the header says
	endTruncated = "truncated"      // before that
	endTrailing  = "trailing_bytes" // after that
)

// end says how the file ends.
func (r *Reader) end() string {
	switch {
	case r.Missing() > 0:
		return endTruncated
	case r.Trailing() > 0:
		return endTrailing
	}
	return endClean
}

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
	c.Whole(&x.problems)
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
