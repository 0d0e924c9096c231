package teehistorian

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"recfs/formats/internal/demo"
)

// How many ticks the demo of a run shows before the run began and after it ended.
const (
	beforeRun = 50
	afterRun  = 100
)

// A run is a PLAYER_FINISH that has a demo.
type run struct {
	stay   int32
	tick   int32 // in which it ended
	time   int32 // in ticks
	number int32 // among runs of the tick that would have the same name, from 1 on
}

// began returns the tick in which the run began, which may be before the recording.
func (n *run) began() int64 { return int64(n.tick) - int64(n.time) }

// runs returns the runs that have a demo, sorted by their names.
func (r *recording) runs() []run {
	return slices.DeleteFunc(r.finishes(), func(n run) bool { return n.number == 0 })
}

// finishes returns the finishes of all stays as runs, sorted by their names. Those without a
// demo have the number 0.
func (r *recording) finishes() (list []run) {
	for _, f := range r.idx.finishes {
		if f.Stay == noStay {
			continue
		}
		n := run{stay: f.Stay, tick: f.Tick, time: f.Time}
		if r.isShown(n.stay) && r.hasDemo(&n) {
			n.number = 1
		}
		list = append(list, n)
	}
	slices.SortStableFunc(list, func(a, b run) int { return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.stay, b.stay)) })
	for rest := list; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].tick == rest[0].tick {
			n++
		}
		r.numberRuns(rest[:n])
		rest = rest[n:]
	}
	slices.SortFunc(list, func(a, b run) int {
		if c := cmp.Compare(a.tick, b.tick); c != 0 && max(a.tick, b.tick) < 1e8 {
			return c // they have as many digits
		}
		return strings.Compare(r.runName(&a), r.runName(&b))
	})
	return list
}

// isShown reports whether demos show the client of a stay, which may be noStay.
func (r *recording) isShown(stay int32) bool {
	return stay != noStay && r.idx.stays[stay].CID < demo.MaxClients
}

// maxRun bounds the ticks of the demo of a run: seven days. Each takes a byte at least, and a few
// records can claim any number of them.
const maxRun = 1 << 25

// hasDemo reports whether a run has a demo.
func (r *recording) hasDemo(n *run) bool {
	if !r.idx.spans(int64(n.tick)) {
		return false
	}
	first, last := r.runTicks(n)
	return first < last && last <= demo.MaxTick && last-first <= maxRun
}

// numberRuns gives the runs of one tick, in the order of the stays, names of their own.
func (r *recording) numberRuns(list []run) {
	if len(list) < 2 {
		return
	}
	taken := make(map[string]bool, len(list))
	next := map[int32]int32{} // number of the next run of a stay
	for i := range list {
		n := &list[i]
		if n.number == 0 {
			continue
		}
		n.number = max(next[n.stay], 1)
		for taken[r.runName(n)] {
			n.number++
		}
		next[n.stay] = n.number + 1
		taken[r.runName(n)] = true
	}
}

// runName returns the name of the demo of a run.
func (r *recording) runName(n *run) string {
	name := fmt.Sprintf("%08d-%s", n.tick, r.dirs[n.stay])
	if n.number > 1 {
		name += "-" + strconv.Itoa(int(n.number))
	}
	return name + demoExt
}

// runTicks returns the first and the last tick of the demo of a run.
func (r *recording) runTicks(n *run) (first, last int32) {
	if len(r.idx.chunks) == 0 {
		return 0, 0
	}
	from := max(n.began()-beforeRun, int64(r.idx.firstTick()), int64(r.idx.stays[n.stay].First))
	to := min(int64(n.tick)+afterRun, int64(r.idx.lastTick()))
	return int32(min(from, math.MaxInt32)), int32(to)
}

// runShot returns what the demo of a run shows: the runner, and the players that were in its team
// before the tick in which it finished. In that tick the server takes them out of the team.
func (r *recording) runShot(ctx context.Context, h *header, n *run) (*shot, error) {
	s := &shot{follow: n.stay, shown: map[int32]bool{n.stay: true}, race: true, began: n.began()}
	if n.tick <= r.idx.firstTick() {
		return s, nil
	}
	f, err := r.film(ctx, h, s, n.tick-1)
	if err != nil {
		return nil, err
	}
	state := &f.cur.state
	p := state.lookup(r.idx.stays[n.stay].CID)
	if p == nil || p.stay != n.stay || !p.open && !p.alive || p.team == 0 {
		return s, nil
	}
	s.team = p.team
	for i := range state.players {
		if q := &state.players[i]; (q.open || q.alive) && q.team == s.team {
			s.shown[q.stay] = true
		}
	}
	return s, nil
}

// markers returns the markers of a demo of these ticks: finishes of clients that demos show.
func (r *recording) markers(first, last int32) (markers []int32) {
	list := r.idx.finishes
	from := sort.Search(len(list), func(i int) bool { return list[i].Tick >= first })
	for _, f := range list[from:] {
		n := len(markers)
		if f.Tick > last || n == demo.MaxMarkers {
			break
		}
		if r.isShown(f.Stay) && (n == 0 || f.Tick >= markers[n-1]+demo.TicksPerSecond) {
			markers = append(markers, f.Tick)
		}
	}
	return markers
}
