package hcrp

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

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

// maxRuns bounds the runs of ticks of an index, of 24 bytes each; no real recording comes near.
const maxRuns = 1 << 23

// runs is a set of tick numbers, kept as runs of successive ones.
type runs []run

type run struct {
	First, Last int64
	Before      int64 // numbers in the runs before; set by finish
}

// add adds a number, which most often follows the last one. It returns false if there are too many
// runs already.
func (r *runs) add(n int64) bool {
	l := *r
	if k := len(l) - 1; k >= 0 && l[k].Last+1 == n {
		l[k].Last = n
		return true
	}
	if len(l) >= maxRuns {
		return false
	}
	*r = append(l, run{First: n, Last: n})
	return true
}

// finish sorts and joins the runs.
func (r *runs) finish() {
	l := *r
	slices.SortFunc(l, func(a, b run) int { return cmp.Compare(a.First, b.First) })
	out := l[:0]
	for _, x := range l {
		if k := len(out) - 1; k >= 0 && x.First <= out[k].Last+1 {
			out[k].Last = max(out[k].Last, x.Last)
			continue
		}
		out = append(out, x)
	}
	var n int64
	for i := range out {
		out[i].Before = n
		n += out[i].Last - out[i].First + 1
	}
	*r = slices.Clip(out)
}

// count returns how many numbers there are.
func (r runs) count() int64 {
	if len(r) == 0 {
		return 0
	}
	last := r[len(r)-1]
	return last.Before + last.Last - last.First + 1
}

// number returns the i-th number.
func (r runs) number(i int64) int64 {
	k := sort.Search(len(r), func(k int) bool { return r[k].Before > i }) - 1
	return r[k].First + i - r[k].Before
}

// search returns how many numbers are less than n.
func (r runs) search(n int64) int64 {
	i, _ := r.find(n)
	return i
}

// find returns how many numbers are less than n, and whether n is there.
func (r runs) find(n int64) (i int64, ok bool) {
	k := sort.Search(len(r), func(k int) bool { return r[k].Last >= n })
	if k == len(r) {
		return r.count(), false
	}
	return r[k].Before + max(n-r[k].First, 0), n >= r[k].First
}

// sumOf returns the checksum of the index entries of the first n chunks in the order of ticks.
func (t *Tables) sumOf(n int) (sum [sha256.Size]byte) {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d", t.Header.Layout, t.Header.Version)
	var b []byte
	for _, k := range t.byTick[:n] {
		b = binary.BigEndian.AppendUint64(b[:0], uint64(k))
		h.Write(appendEntry(b, t.Entry(int(k)), 0))
	}
	h.Sum(sum[:0])
	return sum
}

// reach returns the files that have the first n chunks in the order of ticks, as far as they exist.
func (t *Tables) reach(n int) []reach {
	all := map[int64]reach{}
	for _, k := range t.byTick[:n] {
		p := t.place(int(k))
		if size, ok := t.extent(p); ok {
			end := min(addSat(max(p.offset, 0), max(t.Entry(int(k)).Stored, 0)), size)
			all[p.segment] = reach{p.segment, size, max(all[p.segment].end, end)}
		}
	}
	list := make([]reach, 0, len(all))
	for _, n := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[n])
	}
	return list
}

// Reach returns how many first bytes of a segment, or of the file, the chunks take that the index
// is made of.
func (x *index) Reach(name string) int64 {
	number, isSegment := parseSegmentName(name)
	if name == "" {
		number = fileNumber
	} else if !isSegment {
		return 0
	}
	for _, f := range x.files {
		if f.number == number {
			return f.end
		}
	}
	return 0
}

// holds reports whether the recording may go on where the index ends. If the index lacks chunks
// that were not readable, the files must have the length that they had: otherwise the chunks may be
// there now.
func (x *index) holds(t *Tables) bool {
	now := t.reach(x.progress.chunks)
	return x.sum == t.sumOf(x.progress.chunks) && slices.EqualFunc(x.files, now, func(old, now reach) bool {
		return old.number == now.number && old.end <= now.end && (!x.progress.lost || old.size == now.size)
	})
}
