package hcrp

import (
	"cmp"
	"fmt"
	"slices"

	"recfs/formats"
)

// checkEntries checks the entries for themselves and their tick ranges.
func (t *Tables) checkEntries(problems *problemList) {
	var total, end int64
	for i := range t.Chunks() {
		e := t.Entry(i)
		if flaw := e.flaw(); flaw != "" {
			problems.addChunk(codeIndexEntry, i, place{-1, e.at}, "entry %d: %s", i, flaw)
		}
		if i > 0 && e.Start <= t.Entry(i-1).Start {
			problems.addChunk(codeIndexOrder, i, place{-1, e.at}, "the chunk starts at tick %d, the one before it at %d", e.Start, t.Entry(i-1).Start)
		}
		total += max(e.Ticks, 0)
	}
	published := t.Header.Layout == Published
	for k, n := range t.byTick {
		i := int(n)
		e := t.Entry(i)
		switch {
		case e.Start < end:
			problems.addChunk(codeIndexTicks, i, place{-1, e.at}, "the chunk starts at tick %d, but ticks up to %d are in others", e.Start, end-1)
		case published && e.Start > end && k == 0:
			problems.addChunk(codeIndexTicks, i, place{-1, e.at}, "the first chunk starts at tick %d", e.Start)
		case published && e.Start > end:
			problems.addChunk(codeIndexTicks, i, place{-1, e.at}, "ticks %d to %d are in no chunk", end, e.Start-1)
		}
		end = max(end, e.Start+e.Ticks)
	}
	if t.Header.Layout == Design {
		total = end
	}
	if t.whole && total != t.Header.TickCount {
		problems.add(codeTicksTotal, t.Header.indexLengthOffset()+4, "the header says %d ticks, the index %d", t.Header.TickCount, total)
	}
}

// checkPlaces looks for stored bytes that are not there, first by segment, then by chunk.
func (t *Tables) checkPlaces(problems *problemList) {
	var segments, chunks problemList
	for i := range t.Chunks() {
		switch d := t.flaw(i); {
		case d == nil || d.Code == codeIndexEntry: // told with the index
		case d.Code == codeOutOfFile:
			chunks.append(d.Problem())
		default:
			segments.append(d.Problem())
		}
	}
	t.checkSegments(&segments)
	t.checkOverlap(&chunks)
	slices.SortStableFunc(chunks, func(a, b formats.Problem) int { return cmp.Compare(*a.Chunk, *b.Chunk) })
	t.chunkProblems = len(chunks)
	*problems = slices.Concat(*problems, segments, chunks)
}

// checkSegments looks for what is in segments besides the chunks of the index.
func (t *Tables) checkSegments(problems *problemList) {
	if !t.segmented {
		return
	}
	used := t.used()
	for _, s := range t.segments {
		number := int(s.number)
		to, named := used[s.number]
		switch {
		case !named:
			problems.append(formats.Problem{Code: codeUnreferenced, Segment: &number, Message: segmentName(s.number) + " is not named by the index"})
		case s.size > to:
			problems.append(formats.Problem{Code: codeTrailing, Segment: &number, Offset: to, Message: fmt.Sprintf("%d bytes behind the last chunk", s.size-to)})
		}
	}
}

// checkOverlap looks for chunks that share stored bytes.
func (t *Tables) checkOverlap(problems *problemList) {
	list := make([]int32, 0, t.Chunks())
	for i := range t.Chunks() {
		if t.flaw(i) == nil {
			list = append(list, int32(i))
		}
	}
	t.sort(list, func(e *packedEntry) int64 { return e.raw })
	end := place{-2, 0}
	last := 0
	for _, n := range list {
		i := int(n)
		p := t.place(i)
		if p.segment == end.segment && p.offset < end.offset {
			problems.addChunk(codeOverlap, i, p, "the chunk shares stored bytes with chunk %d", last)
		}
		if to := p.offset + t.Entry(i).Stored; p.segment != end.segment || to > end.offset {
			end, last = place{p.segment, to}, i
		}
	}
}
