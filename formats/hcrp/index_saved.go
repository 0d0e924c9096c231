package hcrp

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// Append appends the index as it is saved.
func (x *index) Append(b []byte) []byte { return indexfile.Append(b, x.code) }

// code writes or reads the index. What it reads still has to be checked: see check.
//
//	| sum, 32 bytes | n | n × reach | progress | complete | empty | chunks × (records, events) |
//	| n | n × (name, events) | n | n × problem | n | n × run | n | n × range |
//	| n | n × checkpoint | n | n × track | markers | foreign | rows of events, positions, markers |
func (x *index) code(c indexfile.Codec) {
	sum := x.sum[:]
	if c.Values(&sum); c.R != nil {
		copy(x.sum[:], sum)
	}
	indexfile.List(c, &x.files, 3, func(f *reach) {
		c.Int(&f.number)
		c.Values(&f.size, &f.end)
	})
	x.progress.code(c, len(x.order))
	c.Values(&x.complete, &x.empty)
	for _, i := range x.order[:x.progress.chunks] {
		c.Values(&x.rows[i].records, &x.rows[i].events)
	}
	codeMap(c, &x.names, 2, strings.Compare, func(name *string, n *int64) { c.Values(name, n) })
	c.Whole(&x.problems)
	x.ticks.code(c)
	indexfile.List(c, &x.ranges, 8, func(t *tickRange) {
		c.Values(&t.First, &t.Last)
		indexfile.Uint(c, &t.Chunk, math.MaxInt32)
		c.Values(&t.Hole, &t.Lost, &t.Cut, &t.Ghost, &t.Markers)
	})
	indexfile.List(c, &x.checkpoints, 2, func(p *checkpoint) {
		c.Values(&p.Range)
		c.Blob(&p.Replay)
	})
	indexfile.List(c, &x.tracks, 7, func(t *track) { t.code(c) })
	x.markers.code(c)
	c.Values(&x.foreign)
	rowcount.Code(c, &x.eventRows, eventsColumns)
	rowcount.Code(c, &x.positionRows, positionsColumns)
	rowcount.Code(c, &x.markerRows, markersColumns)
}

func (p *progress) code(c indexfile.Codec, chunks int) {
	indexfile.Uint(c, &p.chunks, chunks)
	c.Values(&p.ranges, &p.next)
	c.Int(&p.unknown)
	c.Values(&p.played, &p.sound, &p.lost)
}

// code is for runs of ticks, each by its distance from the one before it, and its length.
func (r *runs) code(c indexfile.Codec) {
	last := int64(0)
	indexfile.List(c, (*[]run)(r), 2, func(x *run) {
		distance, length := x.First-last, x.Last-x.First
		c.Int(&distance)
		if c.Values(&length); c.R != nil {
			*x = run{First: last + distance, Last: last + distance + length}
		}
		last = x.Last
	})
}

// code is for the markers, none if there are many.
//
//	| u8 many | n | n × (tick, id, name, fields, u8 snapshot) |
func (l *markerList) code(c indexfile.Codec) {
	c.Values(&l.many)
	indexfile.List(c, &l.list, 5, func(m *marker) { c.Values(&m.Tick, &m.ID, &m.Name, &m.Fields, &m.Snapshot) })
	if c.R != nil {
		list := l.list
		l.list = nil
		for i := range list {
			l.add(&list[i])
		}
	}
}

func (t *track) code(c indexfile.Codec) {
	c.Int(&t.Entity)
	indexfile.Uint(c, &t.Life, math.MaxInt32)
	c.Values(&t.From.Tick, &t.From.Event, &t.To.Tick, &t.To.Event)
	last := 0
	indexfile.List(c, &t.Pieces, 2, func(p *piece) {
		n := p.Range - last
		if c.Values(&n, &p.Size); c.R != nil {
			p.Range = last + n
		}
		last = p.Range
	})
}

const (
	maxSaved     = 1 << 46 // greatest length in a saved index, so that no sum of them overflows
	maxSavedTick = 1 << 33 // beyond all ticks that the 32-bit numbers of an index can reach
)

// check checks the values of a saved index against each other and against the tables of the
// recording, so that nothing else needs to.
func (x *index) check(t *Tables) error {
	for _, part := range []struct {
		name  string
		sound bool
	}{
		{"progress", x.progress.unknown >= -1 && x.progress.ranges <= len(x.ranges)},
		{"rows", x.soundRows()},
		{"problems", x.soundProblems(t.Chunks())},
		{"ticks", x.soundTicks(t.bodyBytes())},
		{"ranges", x.soundRanges(t.Chunks())},
		{"saved replays", x.soundCheckpoints()},
		{"tracks", x.soundTracks()},
		{"tables", x.soundTables()},
		{"markers", x.markers.sound()},
	} {
		if !part.sound {
			return formats.Corrupt(formatName, 0, "the %s of the index cannot be", part.name)
		}
	}
	return nil
}

// soundTables looks at the counted rows, which are of as many chunks.
func (x *index) soundTables() bool {
	chunks := max(x.progress.chunks, 1) // the first one begins by itself
	return x.eventRows.Chunks() == chunks && x.positionRows.Chunks() == chunks && x.markerRows.Chunks() == chunks
}

// sound looks at the markers, which ascend, and whose fields are members of an object.
func (l *markerList) sound() bool {
	return slices.IsSortedFunc(l.list, func(a, b marker) int { return cmp.Compare(a.Tick, b.Tick) }) &&
		!slices.ContainsFunc(l.list, func(m marker) bool {
			object := slices.Concat([]byte(`{"tick":0`), m.Fields, []byte{'}'})
			return m.Tick >= maxSavedTick || !json.Valid(object)
		})
}

func (x *index) soundRows() bool {
	return !slices.ContainsFunc(x.rows, func(r row) bool { return r != unreadable && (r.records < 0 || r.events < 0) })
}

// soundProblems looks at the problems, which are of chunks.
func (x *index) soundProblems(chunks int) bool {
	return !slices.ContainsFunc(x.problems, func(p formats.Problem) bool {
		return p.Chunk == nil || *p.Chunk < 0 || *p.Chunk >= chunks
	})
}

// soundTicks looks at the runs of ticks, which ascend, and take at least a byte of a body each.
func (x *index) soundTicks(bodies int64) bool {
	next, count := int64(0), int64(0)
	for _, run := range x.ticks {
		if run.First < next || run.Last < run.First || run.Last >= maxSavedTick {
			return false
		}
		next = run.Last + 2
		if count += run.Last - run.First + 1; count > bodies {
			return false
		}
	}
	return len(x.ticks) <= maxRuns
}

// soundRanges looks at the ranges, which ascend, each in its chunk.
func (x *index) soundRanges(chunks int) bool {
	next, sum := int64(0), int64(0)
	for i := range x.ranges {
		t := &x.ranges[i]
		switch {
		case t.First < next, t.Last < t.First, t.Last >= maxSavedTick, int(t.Chunk) >= chunks:
			return false
		case t.Ghost > maxSaved, t.Markers > maxSaved, sum > maxSaved:
			return false
		}
		next, sum = t.Last+1, sum+t.Ghost+t.Markers
	}
	return true
}

// soundCheckpoints looks at where replays were saved, which ascend. They are decoded when one plays
// on from them.
func (x *index) soundCheckpoints() bool {
	last := -1
	for _, c := range x.checkpoints {
		if c.Range <= last || c.Range >= len(x.ranges) {
			return false
		}
		last = c.Range
	}
	return true
}

// soundTracks looks at the tracks: the lives of an entity are counted, and only the last one goes
// on.
func (x *index) soundTracks() bool {
	lives, open := map[int64]int{}, map[int64]bool{}
	for i := range x.tracks {
		t := &x.tracks[i]
		if lives[t.Entity]++; t.Life != lives[t.Entity] || open[t.Entity] || !t.soundPieces(len(x.ranges)) {
			return false
		}
		open[t.Entity] = t.open()
	}
	return len(x.tracks) <= maxTracks
}

func (t *track) soundPieces(ranges int) bool {
	last := -1
	for _, p := range t.Pieces {
		if p.Range <= last || p.Range >= ranges || p.Size > maxSaved {
			return false
		}
		last = p.Range
	}
	return true
}
