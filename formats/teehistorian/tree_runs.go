package teehistorian

import (
	"cmp"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/demo"
	"recfs/nodes"
)

// named returns the recording with the directories of its stays alone.
func (x *index) named() *recording { return &recording{idx: x, dirs: x.dirs(nodes.SafeName)} }

// runners returns the best runs of a recording, at most so many: of equal ones the first.
func (x *index) runners(most int) []formats.Runner {
	runners := []formats.Runner{} // not nil: they are known
	if !slices.ContainsFunc(x.stays, func(s *stay) bool { return len(s.finishes) > 0 }) {
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

// finishes returns the runs that have a demo, and after them the others, whose number is 0.
func (r *recording) finishes() []run {
	list, _ := r.runs()
	for i, s := range r.idx.stays {
		for _, f := range s.finishes {
			n := run{stay: int32(i), tick: f.Tick, time: f.TimeTicks}
			if s.cid >= demo.MaxClients || !r.hasDemo(&n) {
				list = append(list, n)
			}
		}
	}
	return list
}
