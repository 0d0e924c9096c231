package datafile

import "recfs/formats"

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
