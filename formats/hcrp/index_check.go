package hcrp

import (
	"encoding/json"
	"slices"

	"recfs/formats"
)

const (
	maxSaved     = 1 << 40 // what a length in a saved index may be, so that sums of them are no overflow
	maxSavedTick = 1 << 33 // after every tick that 32-bit numbers of an index can make
)

// check holds the values of an unpacked index against each other and against the index of the recording, so that nothing that
// uses it needs to doubt them.
func (s *index) check(r *Reader) error {
	for _, part := range []struct {
		name  string
		sound bool
	}{
		{"progress", s.progress.unknown >= -1},
		{"rows", s.soundRows()},
		{"problems", s.soundProblems(r.Chunks())},
		{"ticks", s.soundTicks(r.bodyBytes())},
		{"ranges", s.soundRanges(r)},
		{"saved replays", s.soundCheckpoints(r.Header.Layout)},
		{"tracks", s.soundTracks()},
		{"markers", json.Valid(slices.Concat([]byte{'['}, s.markers, []byte{']'}))},
	} {
		if !part.sound {
			return formats.Corrupt(formatName, 0, "the %s of the index cannot be", part.name)
		}
	}
	return nil
}

func (s *index) soundRows() bool {
	for _, row := range s.rows {
		if row != unreadable && (row.records < 0 || row.events < 0) {
			return false
		}
	}
	return true
}

// soundProblems looks at the problems, which are of chunks.
func (s *index) soundProblems(chunks int) bool {
	return !slices.ContainsFunc(s.problems, func(p formats.Problem) bool {
		return p.Chunk == nil || *p.Chunk >= chunks
	})
}

// soundTicks looks at the runs of ticks, which ascend, and take at least a byte of a body each.
func (s *index) soundTicks(bodies int64) bool {
	next, count := int64(0), int64(0)
	for _, run := range s.ticks {
		if run.First < next || run.Last < run.First || run.Last >= maxSavedTick {
			return false
		}
		next = run.Last + 2
		if count += run.Last - run.First + 1; count > bodies {
			return false
		}
	}
	return len(s.ticks) <= maxRuns
}

// soundRanges looks at the ranges, which ascend, each in its chunk.
func (s *index) soundRanges(r *Reader) bool {
	next := int64(0)
	for i := range s.ranges {
		x := &s.ranges[i]
		switch {
		case x.First < next, x.Last < x.First, x.Last >= maxSavedTick, x.Ghost > maxSaved:
			return false
		case int(x.Chunk) >= r.Chunks():
			return false
		}
		next = x.Last + 1
	}
	return true
}

func (s *index) soundCheckpoints(l Layout) bool {
	last := -1
	for _, x := range s.checkpoints {
		if x.Range <= last || x.Range >= len(s.ranges) {
			return false
		}
		if _, err := decodeReplay(l, x.Replay); err != nil {
			return false
		}
		last = x.Range
	}
	return true
}

// soundTracks looks at the tracks: the lives of an entity are counted, and only one of them goes on.
func (s *index) soundTracks() bool {
	type life struct {
		entity int64
		number int
	}
	known := make(map[life]bool, len(s.tracks))
	const goesOn = 0 // the number of no life
	for i := range s.tracks {
		t := &s.tracks[i]
		for _, l := range []life{{t.Entity, t.Life}, {t.Entity, goesOn}} {
			if l.number == goesOn && !t.open() {
				continue
			}
			if known[l] {
				return false
			}
			known[l] = true
		}
		if t.Life < 1 || !t.soundPieces(len(s.ranges)) {
			return false
		}
	}
	return len(s.tracks) <= maxTracks
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
