package teehistorian

import (
	"cmp"
	"slices"

	"recfs/formats"
	"recfs/nodes"
)

// named returns the recording with the directories of its stays alone.
func (x *index) named() *recording { return &recording{idx: x, dirs: x.dirs(nodes.SafeName)} }

// runners returns the best runs of a recording, at most so many: of equal ones the first.
func (x *index) runners(most int) []formats.Runner {
	runners := []formats.Runner{} // not nil: they are known
	if len(x.finishes) == 0 {
		return runners
	}
	r := x.named()
	list := r.finishes()
	slices.SortStableFunc(list, func(a, b run) int { return cmp.Compare(a.time, b.time) })
	list = list[:min(len(list), most)]
	slices.SortStableFunc(list, func(a, b run) int { return cmp.Or(cmp.Compare(a.stay, b.stay), cmp.Compare(a.tick, b.tick)) })
	last := int32(-1)
	for i := range list {
		n := &list[i]
		if n.stay != last {
			last = n.stay
			runners = append(runners, formats.Runner{Names: x.stays[last].names})
		}
		one := formats.Run{Tick: n.tick, TimeMS: int64(n.time) * tickMS}
		if n.number > 0 {
			one.Demo = "demos/runs/" + r.runName(n)
		}
		who := &runners[len(runners)-1]
		who.Runs = append(who.Runs, one)
	}
	return runners
}
