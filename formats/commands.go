package formats

import (
	"encoding/json"
	"io"
	"time"
)

// A DemoQuery says which demo of a recording is wanted: of ticks or times, or of a run.
type DemoQuery struct {
	From, To string // ticks, times of the recording, times of day, or dates
	Around   string // one of these, and ± how long: what lies there is wanted
	Follow   string // the player whom the camera follows, by name or directory; "": none
	Run      string // the player of whom the fastest run is wanted, or AnyRun; "": none
}

// A Demo is a demo of a recording.
type Demo struct {
	Path   string // in its tree
	Length time.Duration
	About  string // who is in it
}

// AnyRun is the Run of a DemoQuery for the best of all runs.
const AnyRun = "best"

// An Outline is what of a map stops characters.
type Outline struct {
	Width, Height int    // in tiles
	Solid         []bool // a character cannot be there; row by row
}

// Things are the names of what was there when a game was saved last.
type Things struct {
	Items    []string // in the pack, and in what is in it
	Monsters []string // on the level
}

// CompactOptions say how a recording is compacted.
type CompactOptions struct {
	Level    int                   // of zstd; 0: 19
	Progress func(done, all int64) // of decompressed bytes; may be nil
}

// A CompactReport is what was made of a recording.
type CompactReport struct {
	Chunks  int       // written
	Size    int64     // bytes written
	Missing []Problem // why the rest of the recording is not in it

	Ticks, Lost int64 // of the recording, and how many of them are not in it
	Found       int   // chunks that no index names, and which are in it
	Unnamed     int   // such chunks that are not, as they do not tell their ticks
}

// A Scratch holds what is not yet written.
type Scratch interface {
	io.Writer
	io.ReaderAt
}

// A PartsReader reads parts.
type PartsReader struct {
	Document string // path in the tree of a recording; "": it has no parts
	Read     func(document []byte) (Parts, error)
}

// Parts are what two recordings without ticks are compared by.
type Parts struct {
	Lists   [][]Part // as many of each recording; parts of one list are matched by their names
	Picture string   // path of a picture that has a pixel for each cell of a Grid; "": there is none
}

// A Part is a part of a recording. Its paths lead to files in the tree of that; "" to none.
type Part struct {
	Name   string          // alike in recordings that differ, and unique in its list
	Fields json.RawMessage // what the tree tells of it

	Ignored []string                   // keys of Fields and of Document that say where it lies
	Names   map[string]json.RawMessage // of other parts, in place of their numbers in Fields

	Document string   // path of a JSON file that tells more
	Keys     []string // which of it; nil: all, and Fields nothing that is compared
	Content  string   // path of bytes
	Grid     *Grid    // nil: it has none
}

// A Grid is a text of rows of cells of one width. A cell that is a dot is empty.
type Grid struct {
	Path          string
	Width, Height int // in cells

	// Name returns what a cell means without its blanks, "" if it has no name; nil: none has.
	Name func(cell string) string
}

// A NeedsReader reads what a recording needs that it does not hold.
type NeedsReader struct {
	Document string // path in the tree of a recording; "": it needs nothing
	Read     func(document []byte) []Need
}

// A Need is a file that a recording names: one with a SHA256, or any number of one kind.
type Need struct {
	Kind      string // "map"
	Name, Ext string // of the file
	Dir       string // where it may lie beside the recording
	Hint      string // what it is good for, and where it may be put

	Size   int64
	SHA256 string // in hex; "": any file of the name will do
}
