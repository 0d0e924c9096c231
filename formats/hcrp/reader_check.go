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
	used := t.used(false)
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

// A claim is a run of ticks that a chunk knows of. Where chunks overlap, a tick belongs to the
// claim of the lowest rank, and among equals to the first (docs/tree/hcrp.md section 1).
type claim struct {
	first, last int64
	chunk       int32
	rank        rank
}

type rank uint8

const (
	rankWhole rank = iota // the ticks are recorded
	rankPart              // the tick is, in which decoding stopped
	rankPast              // decoding came past the ticks
)

// claims appends the claims of the chunk.
func (c *chunk) claims(list []claim, number int32) []claim {
	for i := range c.ticks {
		t, last := &c.ticks[i], len(list)-1
		switch {
		case t.cut:
			list = append(list, claim{t.n, t.n, number, rankPart})
		case i > 0 && list[last].last+1 == t.n:
			list[last].last = t.n
		default:
			list = append(list, claim{t.n, t.n, number, rankWhole})
		}
	}
	if c.known >= c.entry.Start {
		list = append(list, claim{c.entry.Start, c.known, number, rankPast})
	}
	return list
}

// settle returns the claimed ticks, each with the chunk that it belongs to. The claims are in the
// order of chunks.
func settle(claims []claim) (list []tickRange) {
	slices.SortStableFunc(claims, func(a, b claim) int { return cmp.Compare(a.rank, b.rank) })
	bounds := make([]int64, 0, 2*len(claims))
	for _, c := range claims {
		bounds = append(bounds, c.first, c.last+1)
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	// owners has the claim that each piece between two bounds belongs to. free leads from each piece
	// to the first one behind it without an owner; following these links shortens them.
	owners, free := make([]*claim, len(bounds)), make([]int32, len(bounds))
	for i := range free {
		free[i] = int32(i)
	}
	next := func(i int32) int32 {
		for free[i] != i {
			free[i] = free[free[i]]
			i = free[i]
		}
		return i
	}
	for i := range claims {
		c := &claims[i]
		at, _ := slices.BinarySearch(bounds, c.first)
		for k := next(int32(at)); bounds[k] <= c.last; k = next(k) {
			owners[k], free[k] = c, k+1
		}
	}
	for i, c := range owners {
		if c == nil {
			continue
		}
		r := tickRange{First: bounds[i], Last: bounds[i+1] - 1, Chunk: c.chunk, Cut: c.rank == rankPart}
		if n := len(list) - 1; n >= 0 && list[n].joins(&r) {
			list[n].Last = r.Last
		} else {
			list = append(list, r)
		}
	}
	return list
}

// joins reports whether o goes on where r ends.
func (r *tickRange) joins(o *tickRange) bool {
	return r.Last+1 == o.First && r.Chunk == o.Chunk && !r.Cut && !o.Cut
}

// splits reports whether no tick is shared by chunks before place n in the order of ticks and
// chunks from there on.
func (t *Tables) splits(n int) bool {
	return n == 0 || n == len(t.byTick) || t.Entry(int(t.byTick[n])).Start > int64(t.lasts[n-1])
}
