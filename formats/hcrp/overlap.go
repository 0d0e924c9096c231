package hcrp

import (
	"cmp"
	"slices"
)

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

// claims appends the claims of the chunk. If no other chunk shares its ticks, it leaves out which
// of them are recorded.
func (c *chunk) claims(list []claim, number int32, shared bool) []claim {
	ticks := c.ticks
	if !shared {
		ticks = ticks[max(len(ticks)-1, 0):]
	}
	for i := range ticks {
		t, last := &ticks[i], len(list)-1
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
