package hcrp

import (
	"cmp"
	"slices"

	"recfs/formats"
)

// checkEntries checks the entries for themselves and their tick ranges.
func (r *Reader) checkEntries(problems *problemList) {
	var total, end int64
	for i := range r.Entries {
		e := &r.Entries[i]
		if flaw := e.flaw(); flaw != "" {
			problems.addChunk(codeIndexEntry, i, place{-1, e.at}, "entry %d: %s", i, flaw)
		}
		if i > 0 && e.Start <= r.Entries[i-1].Start {
			problems.addChunk(codeIndexOrder, i, place{-1, e.at}, "the chunk starts at tick %d, the one before it at %d", e.Start, r.Entries[i-1].Start)
		}
		total += max(e.Ticks, 0)
	}
	published := r.Header.Layout == Published
	for k, i := range r.byTick {
		e := &r.Entries[i]
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
	if r.Header.Layout == Design {
		total = end
	}
	if r.whole && total != r.Header.TickCount {
		problems.add(codeTicksTotal, r.Header.indexLengthOffset()+4, "the header says %d ticks, the index %d", r.Header.TickCount, total)
	}
}

// sortEntries sorts the chunks that have a range of ticks.
func (r *Reader) sortEntries() {
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Start >= 0 && e.Ticks > 0 {
			r.byTick = append(r.byTick, i)
		}
	}
	slices.SortFunc(r.byTick, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.Entries[a].Start, r.Entries[b].Start), cmp.Compare(a, b))
	})
	last := int64(-1)
	for _, i := range r.byTick {
		last = max(last, r.Entries[i].Last())
		r.lasts = append(r.lasts, last)
	}
}

// flaw returns why the bytes of chunk i cannot be had, or nil.
func (r *Reader) flaw(i int) *damage {
	e, p := &r.Entries[i], r.place(i)
	if e.Raw < 0 {
		return newDamage(codeOutOfFile, i, place{-1, e.rawAt}, "the byte offset is %d", e.Raw)
	}
	if flaw := e.flaw(); flaw != "" {
		return newDamage(codeIndexEntry, i, place{-1, e.at}, "entry %d: %s", i, flaw)
	}
	size, exists := r.extent(p)
	switch {
	case !exists:
		return newDamage(codeSegmentMissing, i, p, "%s is missing", segmentName(p.segment))
	case p.offset <= size-e.Stored:
		return nil
	case r.segmented:
		return newDamage(codeSegmentTruncated, i, p, "the chunk ends at %d, %s at %d", p.offset+e.Stored, segmentName(p.segment), size)
	}
	return newDamage(codeOutOfFile, i, p, "the chunk ends at %d, the file at %d", addSat(p.offset, e.Stored), size)
}

// checkPlaces looks for stored bytes that are not there, first by segment,
// then by chunk.
func (r *Reader) checkPlaces(problems *problemList) {
	var segments, chunks problemList
	for i := range r.Entries {
		switch d := r.flaw(i); {
		case d == nil || d.Code == codeIndexEntry: // told with the index
		case d.Code == codeOutOfFile:
			chunks.append(d.Problem)
		default:
			segments.append(d.Problem)
		}
	}
	r.checkSegments(&segments)
	r.checkOverlap(&chunks)
	slices.SortStableFunc(chunks, func(a, b formats.Problem) int { return cmp.Compare(*a.Chunk, *b.Chunk) })
	r.chunkProblems = len(chunks)
	*problems = slices.Concat(*problems, segments, chunks)
}

// checkOverlap looks for chunks that share stored bytes.
func (r *Reader) checkOverlap(problems *problemList) {
	list := make([]int, 0, len(r.Entries))
	for i := range r.Entries {
		if r.flaw(i) == nil {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.Entries[a].Raw, r.Entries[b].Raw), cmp.Compare(a, b))
	})
	end := place{-2, 0}
	last := 0
	for _, i := range list {
		p := r.place(i)
		if p.segment == end.segment && p.offset < end.offset {
			problems.addChunk(codeOverlap, i, p, "the chunk shares stored bytes with chunk %d", last)
		}
		if to := p.offset + r.Entries[i].Stored; p.segment != end.segment || to > end.offset {
			end, last = place{p.segment, to}, i
		}
	}
}
