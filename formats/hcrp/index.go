package hcrp

import (
	"crypto/sha256"
	"math"
	"slices"

	"recfs/formats/internal/rowcount"
)

// maxTracks bounds the tracks of an index; no real recording comes near.
const maxTracks = 1 << 20

// An index is what is known of a recording after decoding every chunk once.
type index struct {
	rows     []row // by chunk
	names    map[string]int64
	empty    int64 // ticks without record in chunks that decode to their end
	problems problemList
	complete bool

	ticks       runs
	ranges      []tickRange
	checkpoints []checkpoint
	tracks      []track
	markers     markerList
	foreign     bool // the schema lacks the id of an event

	// The rows of tables/. Their chunks are counted in the order of ticks.
	eventRows, positionRows, markerRows *rowcount.Counter

	progress progress          // the state after the chunks that need not be decoded again
	sum      [sha256.Size]byte // of their index entries
	files    []reach           // which they are in, sorted

	order []int32 // all chunks in the order of ticks
}

// A row is what the index adds to an index entry of the file: how many tick records and events the
// chunk has.
type row struct{ records, events int32 }

// unreadable is the row of a chunk that cannot be decoded.
var unreadable = row{-1, -1}

func newRows(n int) []row { return slices.Repeat([]row{unreadable}, n) }

// A track is the way of an entity until another entity gets its id.
type track struct {
	Entity int64
	Life   int
	From   moment  // its first event
	To     moment  // the first event after it; endless: there is none yet
	Pieces []piece // where its rows are
}

// open reports whether the track may go on.
func (t *track) open() bool { return t.To == endless }

// A moment is an event's place in time.
type moment struct {
	Tick  int64
	Event int
}

func (m moment) before(o moment) bool {
	return m.Tick < o.Tick || m.Tick == o.Tick && m.Event < o.Event
}

// endless is after every event.
var endless = moment{Tick: math.MaxInt64}

// A piece says how many bytes of a CSV file come from one tick range.
type piece struct {
	Range int
	Size  int64
}

// A progress says how far an index has come.
type progress struct {
	chunks, ranges int
	next           int64 // first tick after the last range
	unknown        int64 // last tick that is unknown
	played         int64 // bytes of bodies since the last saved replay
	sound          bool  // nothing is wrong so far
	lost           bool  // a chunk is not readable
}

// A reach says how much of a file the chunks take.
type reach struct {
	number int64 // of the segment, or fileNumber
	size   int64 // of the file
	end    int64 // of the last chunk in it
}

// Memory implements formats.Index.
func (x *index) Memory() int64 {
	n := 1<<10 + 8*cap(x.rows) + 24*cap(x.ticks) + 48*cap(x.ranges) + 160*len(x.problems)
	for _, c := range x.checkpoints {
		n += 32 + len(c.Replay)
	}
	for _, t := range x.tracks {
		n += 256 + 16*len(t.Pieces)
	}
	return int64(n) + x.markers.size + x.eventRows.Cost() + x.positionRows.Cost() + x.markerRows.Cost()
}
