package hcrp

import (
	"encoding/json"
	"slices"

	"recfs/formats"
)

const (
	maxSaved     = 1 << 40 // what a length in a saved scan may be, so that sums of them are no overflow
	maxSavedTick = 1 << 33 // after every tick that 32-bit numbers of an index can make
)

// check holds the values of an unpacked scan against each other and against the index of the recording, so that nothing that
// uses it needs to doubt them.
func (s *scan) check(r *Reader) error {
	for _, part := range []struct {
		name  string
		sound bool
	}{
		{"mark", s.mark.next >= 0 && s.mark.unknown >= -1 && s.mark.played >= 0 && s.empty >= 0},
		{"rows", s.soundRows()},
		{"problems", s.soundProblems(r.Chunks())},
		{"ticks", s.soundTicks(r.bodies())},
		{"stretches", s.soundStretches(r)},
		{"saved players", s.soundSaves(r.Header.Layout)},
		{"tracks", s.soundTracks()},
		{"markers", json.Valid(slices.Concat([]byte{'['}, s.markers, []byte{']'}))},
	} {
		if !part.sound {
			return formats.Corrupt(formatName, 0, "the %s of the index cannot be", part.name)
		}
	}
	return nil
}

func (s *scan) soundRows() bool {
	for _, row := range s.rows {
		if row != unreadable && (row.records < 0 || row.events < 0) {
			return false
		}
	}
	for _, n := range s.names {
		if n < 0 {
			return false
		}
	}
	return true
}

// soundProblems looks at the problems, which are of chunks.
func (s *scan) soundProblems(chunks int) bool {
	return !slices.ContainsFunc(s.problems, func(p formats.Problem) bool {
		return p.Chunk == nil || *p.Chunk < 0 || *p.Chunk >= chunks || p.Offset < 0
	})
}

// soundTicks looks at the runs of ticks, which ascend, and take at least a byte of a body each.
func (s *scan) soundTicks(bodies int64) bool {
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

// soundStretches looks at the stretches, which ascend, each in its chunk.
func (s *scan) soundStretches(r *Reader) bool {
	next := int64(0)
	for i := range s.stretches {
		x := &s.stretches[i]
		switch {
		case x.First < next, x.Last < x.First, x.Last >= maxSavedTick, x.Ghost < 0, x.Ghost > maxSaved:
			return false
		case x.Chunk < 0, int(x.Chunk) >= r.Chunks():
			return false
		}
		next = x.Last + 1
	}
	return true
}

func (s *scan) soundSaves(l Layout) bool {
	last := -1
	for _, x := range s.saves {
		if x.Stretch <= last || x.Stretch >= len(s.stretches) {
			return false
		}
		if _, err := unpackPlayer(l, x.Player); err != nil {
			return false
		}
		last = x.Stretch
	}
	return true
}

// soundTracks looks at the tracks: the lives of an entity are counted, and only one of them goes on.
func (s *scan) soundTracks() bool {
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
		if t.Life < 1 || !t.soundParts(len(s.stretches)) {
			return false
		}
	}
	return len(s.tracks) <= maxTracks
}

func (t *track) soundParts(stretches int) bool {
	last := -1
	for _, p := range t.Parts {
		if p.Stretch <= last || p.Stretch >= stretches || p.Size < 0 || p.Size > maxSaved {
			return false
		}
		last = p.Stretch
	}
	return true
}
