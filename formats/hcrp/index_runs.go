package hcrp

import (
	"cmp"
	"slices"
	"sort"
)

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
