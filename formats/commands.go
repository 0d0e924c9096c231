package formats

import (
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
