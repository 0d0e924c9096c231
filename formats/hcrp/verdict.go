package hcrp

import (
	"cmp"
	"slices"

	"recfs/formats"
)

// hint says what is missing and which flag helps, if no schema fits or a built-in one lacks an
// event (docs/tree/hcrp.md section 3). Otherwise it is empty.
func (s *Schema) hint(x *index) string {
	switch {
	case s == nil:
		return "no event schema fits, so the events are shown as bytes only; name one with --schema, or put it beside the recording"
	case s.builtin && x.foreign:
		return "the built-in event schema lacks some events; if the recording is of another server, name its schema with --schema, or put it beside the recording"
	}
	return ""
}

// How a recording ends (docs/tree/hcrp.md section 3).
const (
	endCut        = "cut"        // bytes that header or index name are missing
	endCompacted  = "compacted"  // one file, written when the recording was over
	endFinished   = "finished"   // segments with the marker
	endUnfinished = "unfinished" // segments without it: still running, or crashed
)

// end says how the recording ends.
func (t *Tables) end() string {
	cut := slices.ContainsFunc(t.Problems, func(p formats.Problem) bool {
		switch p.Code {
		case codeIndexTruncated, codeMetadataTruncated, codeOutOfFile, codeSegmentTruncated, codeSegmentMissing:
			return true
		}
		return false
	})
	switch {
	case cut:
		return endCut
	case !t.segmented:
		return endCompacted
	case t.Finished:
		return endFinished
	}
	return endUnfinished
}

// allProblems returns the problems that opening shows and those of the index: first what is not
// about one chunk, then chunk by chunk.
func (t *Tables) allProblems(indexed []formats.Problem) []formats.Problem {
	n := len(t.Problems) - t.chunkProblems
	chunks := slices.Concat(t.Problems[n:], indexed)
	slices.SortStableFunc(chunks, func(a, b formats.Problem) int { return cmp.Compare(*a.Chunk, *b.Chunk) })
	return append(append([]formats.Problem{}, t.Problems[:n]...), chunks...)
}

// totalTicks returns how many ticks the ranges of all chunks have.
func (t *Tables) totalTicks() (n int64) {
	for i := range t.Chunks() {
		n += max(t.Entry(i).Ticks, 0)
	}
	return n
}
