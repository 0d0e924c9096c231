package teehistorian

import (
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"strconv"
	"sync/atomic"

	"recfs/formats"
)

// chunkSize is the size from which a chunk ends with its tick (docs/tree/teehistorian.md section
// 2).
const chunkSize = 128 << 10

// How many anomalies are listed, and how many problems before another one is too short a payload.
const (
	maxAnomalies = 100
	maxProblems  = 1 << 16
)

// maxStays bounds the stays of a recording, each of which may take as little as two bytes. A server
// that gained a client every second for three days would have as many.
const maxStays = 1 << 18

// How the records of a recording end.
const (
	endFinished   = "finished"
	endUnfinished = "unfinished"
	endCut        = "cut"
	endDamaged    = "damaged"
)

// An index is what one pass over all records leaves behind: where the chunks are and the state at
// the beginning of each, the stays, and the totals. With it every file of the tree has a name and
// nearly every one a size.
type index struct {
	start     int64 // offset of the first record
	bytes     int64 // end of the last complete record
	end       string
	records   int64
	anomalies int64
	counts    []int64 // of the events, by their numbers
	problems  []formats.Problem
	chunks    []chunk
	stays     []*stay
	practice  []practiceChange
	lines     []lineGroup
	finishes  []finishEvent

	tail checkpoint  // at which the pass goes on when the recording has grown
	rows rowCounters // the last chunk is not ended

	texts    texts                      // of the checkpoints
	byClient map[int32][]int32          // stays of each client id
	decoded  atomic.Pointer[chunkTicks] // the latest; ticks are often asked for one by one
}

// A chunk is a stretch of records that begins with a tick.
type chunk struct {
	offset, Size int64
	First, Last  int32 // ticks
	ordinal      int   // ticks with records in all chunks before
	Count        int   // ticks with records
	Lines        int64 // size of lines/
	Weight       int   // players and teams in the checkpoint
	Ticks        []byte
	Checkpoint   checkpoint
	Activity     []byte // encoded, see activities
}

// A checkpoint is the state before a record.
type checkpoint struct {
	Tick    int32 // of the decoder
	Last    int32 // of the decoder, for the tail only: where a tick begins, any great id will do
	Stays   int32 // how many have begun
	Players []byte
}

// A practiceChange is a TEAM_PRACTICE that changed something. There is one list for all
// checkpoints, so that their size does not grow with the number of teams.
type practiceChange struct {
	Offset int64
	Team   int32
	On     bool
}

// A stay is one client on one client id (docs/tree/teehistorian.md section 7).
type stay struct {
	CID        int32
	FirstChunk int32 // its rows lie in the chunks from here to lastChunk; -1: it has none
	LastChunk  int32

	Named      int32 // tick of the first of names
	First      int32
	Join, Drop *int32 // nil: there is none
	Protocol   protocol

	Names      []string
	Clan       *string
	Version    *int32
	VersionStr *string
	Connection []byte // the UUID that the client gave of it, nil if it gave none
	Reason     *string
	Lives      int64
	finishes   []finishTime // those of the index that count for it
	Rows       [tables]int64
	Bytes      [tables]int64 // without the first line
}

// name returns what the stay is called last, nil if it has no name.
func (s *stay) name() *string {
	if len(s.Names) == 0 {
		return nil
	}
	return &s.Names[len(s.Names)-1]
}

// firstTick returns the first tick with records; there is one.
func (x *index) firstTick() int32 { return x.chunks[0].First }

// lastTick returns the last tick with records; there is one.
func (x *index) lastTick() int32 { return x.chunks[len(x.chunks)-1].Last }

// leaves returns the last tick of a stay.
func (x *index) leaves(stay int) int64 {
	s := x.stays[stay]
	if s.Drop != nil {
		return int64(*s.Drop)
	}
	list := x.byClient[s.CID]
	if i, _ := slices.BinarySearch(list, int32(stay)); i+1 < len(list) {
		return int64(x.stays[list[i+1]].First)
	}
	return int64(x.lastTick())
}

// positions is how many rows there are of positions.
func (x *index) positions() (n int64) {
	for _, s := range x.stays {
		n += s.Rows[positionTable]
	}
	return n
}

// A finishEvent is a PLAYER_FINISH or a TEAM_FINISH.
type finishEvent struct {
	Tick, Time int32
	Stay       int32 // or noStay
	ID         int32 // of the client, or of the team
	Name       int   // number of the text with the name of the client, from 1 on; 0: none
	Team       bool
}

// tell adds a finish to its stay, if it has one.
func (f *finishEvent) tell(stays []*stay) {
	if 0 <= f.Stay && int(f.Stay) < len(stays) {
		s := stays[f.Stay]
		s.finishes = append(s.finishes, finishTime{f.Tick, f.Time})
	}
}

// A finishTime is a PLAYER_FINISH.
type finishTime struct {
	Tick      int32 `json:"tick"`
	TimeTicks int32 `json:"time_ticks"`
}

// An activity is what a chunk holds for one stay.
type activity struct {
	stay  int32
	rows  [tables]int64
	bytes [tables]int64
}

// tickCount is the number of ticks with records.
func (x *index) tickCount() int {
	if len(x.chunks) == 0 {
		return 0
	}
	c := &x.chunks[len(x.chunks)-1]
	return c.ordinal + c.Count
}

// chunkTicks are the ticks of one chunk.
type chunkTicks struct {
	chunk int
	ticks []int32
}

// ticksOf returns the ticks of chunk k.
func (x *index) ticksOf(k int) []int32 {
	if d := x.decoded.Load(); d != nil && d.chunk == k {
		return d.ticks
	}
	c := &x.chunks[k]
	ticks, _ := decodeTicks(c.Ticks, c.First, c.Count) // checked when the index was loaded
	x.decoded.Store(&chunkTicks{k, ticks})
	return ticks
}

// tickNumber returns the i-th tick that has records.
func (x *index) tickNumber(i int) int32 {
	k := sort.Search(len(x.chunks), func(k int) bool { return x.chunks[k].ordinal > i }) - 1
	return x.ticksOf(k)[i-x.chunks[k].ordinal]
}

// span returns the first and the last tick with records; of none, 0 and -1.
func (x *index) span() (first, last int64) {
	if len(x.chunks) == 0 {
		return 0, -1
	}
	return int64(x.chunks[0].First), int64(x.chunks[len(x.chunks)-1].Last)
}

// spans reports whether tick t lies between the first and the last tick with records.
func (x *index) spans(t int64) bool {
	first, last := x.span()
	return first <= t && t <= last
}

// searchTick returns the first tick with records, as counted by tickNumber, that is t or later.
func (x *index) searchTick(t int64) int {
	k := sort.Search(len(x.chunks), func(k int) bool { return int64(x.chunks[k].Last) >= t })
	if k == len(x.chunks) {
		return x.tickCount()
	}
	ticks := x.ticksOf(k)
	return x.chunks[k].ordinal + sort.Search(len(ticks), func(i int) bool { return int64(ticks[i]) >= t })
}

// chunkOf returns the last chunk that does not begin after t.
func (x *index) chunkOf(t int32) int {
	return sort.Search(len(x.chunks), func(k int) bool { return x.chunks[k].First > t }) - 1
}

// chunkStart returns the offset at which chunk k begins; after the last, that at which the records
// end.
func (x *index) chunkStart(k int) int64 {
	if k >= len(x.chunks) {
		return x.bytes
	}
	return x.chunks[k].offset
}

// chunkAt returns the number of the chunk that holds the byte at off.
func (x *index) chunkAt(off int64) (int, bool) {
	if off < x.start || off >= x.bytes {
		return 0, false
	}
	return sort.Search(len(x.chunks), func(k int) bool { return x.chunks[k].offset > off }) - 1, true
}

// stateAt returns the state at the beginning of chunk k and the decoder for its first record.
func (x *index) stateAt(k int, version1 bool) (state, decoder, error) {
	c := &x.chunks[k]
	dec := newDecoder(version1)
	dec.tick = c.Checkpoint.Tick
	s, err := x.restore(&c.Checkpoint, c.offset)
	return s, dec, err
}

// problemList returns the problems for index.json.
func (x *index) problemList() []formats.Problem {
	list := append([]formats.Problem{}, x.problems...)
	for i := range list {
		if k, ok := x.chunkAt(list[i].Offset); ok {
			list[i].Chunk = &k
		}
	}
	return list
}

// dirs returns the names of the stays' directories (docs/tree/teehistorian.md section 8).
func (x *index) dirs(safe func(string) string) []string {
	dirs := make([]string, len(x.stays))
	taken := make(map[string]bool, len(x.stays))
	next := map[string]int{} // where to look for a free number
	for i := range x.stays {
		s := x.stays[i]
		base := idText(s.CID)
		if len(s.Names) > 0 {
			base += "-" + safe(s.Names[0])
		}
		dir := base
		for n := max(next[base], 2); taken[dir]; n++ {
			dir = base + "-" + strconv.Itoa(n)
			next[base] = n + 1
		}
		taken[dir] = true
		dirs[i] = dir
	}
	return dirs
}

// appendTicks appends one or more ascending ticks: the lengths of the runs of ticks with and
// without records, in turns, as uvarints. The reader knows the first tick.
func appendTicks(b []byte, ticks []int32) []byte {
	run := uint64(1)
	for i := 1; i < len(ticks); i++ {
		gap := int64(ticks[i]) - int64(ticks[i-1]) - 1
		if gap == 0 {
			run++
			continue
		}
		b = binary.AppendUvarint(b, run)
		b = binary.AppendUvarint(b, uint64(gap))
		run = 1
	}
	return binary.AppendUvarint(b, run)
}

// decodeTicks returns the n ticks, beginning with first, that appendTicks stored.
func decodeTicks(b []byte, first int32, n int) ([]int32, bool) {
	if len(b) == 0 || n > chunkSize {
		return nil, false
	}
	ticks := make([]int32, 0, n)
	for t := int64(first); len(ticks) < n; {
		run, k := binary.Uvarint(b)
		if k <= 0 || run == 0 || run > uint64(n-len(ticks)) || t > math.MaxInt32-int64(run)+1 {
			return nil, false
		}
		b = b[k:]
		for range run {
			ticks = append(ticks, int32(t))
			t++
		}
		if len(ticks) == n {
			break
		}
		gap, k := binary.Uvarint(b)
		if k <= 0 || gap > 1<<31 {
			return nil, false
		}
		b = b[k:]
		t += int64(gap)
	}
	return ticks, true
}

// An interner keeps one of several equal texts of stays: most players come again and again, with
// one of a few versions.
type interner map[string]string

// text returns the kept text that equals s.
func (n interner) text(s string) string {
	known, ok := n[s]
	if !ok {
		known = s
		n[s] = s
	}
	return known
}
