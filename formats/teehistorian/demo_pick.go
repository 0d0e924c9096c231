package teehistorian

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"recfs/formats"
)

// pickDemo is the Demo of the format.
func pickDemo(head formats.Head, found formats.Index, q formats.DemoQuery) (d formats.Demo, err error) {
	r := found.(*index).named()
	if q.Run != "" {
		return r.fastest(q.Run)
	}
	if len(r.idx.chunks) == 0 {
		return d, errors.New("the recording has no ticks")
	}
	from, to, err := r.stretch(head.(*header).startTime(), q)
	if err != nil {
		return d, err
	}
	named := demoRange{from: from, to: to}
	id, ok := named.find(r)
	if !ok {
		return d, fmt.Errorf("there is no demo from tick %d to %d", from, to)
	}
	if q.Follow != "" {
		id.follow, err = r.whoPlays(q.Follow, id)
	}
	players := 0
	for i, s := range r.idx.stays {
		if r.isShown(int32(i)) && s.isThere(id) {
			players++
		}
	}
	about := strconv.Itoa(players) + " players"
	if players == 1 {
		about = "1 player"
	}
	return formats.Demo{Path: "demos/" + r.demoName(id), Length: tickTime(to - from), About: about}, err
}

// tickTime is how long so many ticks take.
func tickTime(n int64) time.Duration { return time.Duration(n) * tickMS * time.Millisecond }

// isThere reports whether the stay is in the ticks of a demo.
func (s *stay) isThere(in demoID) bool {
	return s.first <= in.last && (s.drop == nil || *s.drop >= in.first)
}

// is reports whether a stay is that of a player, by its name or its directory.
func (r *recording) is(stay int32, player string) bool {
	return r.dirs[stay] == player || slices.Contains(r.idx.stays[stay].names, player)
}

// whoPlays returns the stay of a player in the ticks of a demo. A name that is a directory means
// only that.
func (r *recording) whoPlays(player string, in demoID) (int32, error) {
	var stays []int32
	var dirs []string
	for i, s := range r.idx.stays {
		stay := int32(i)
		if !r.is(stay, player) || !s.isThere(in) {
			continue
		}
		if r.dirs[i] == player {
			return stay, nil
		}
		stays, dirs = append(stays, stay), append(dirs, r.dirs[i])
	}
	switch len(stays) {
	case 0:
		return noStay, fmt.Errorf("there is no player %q in these ticks", player)
	case 1:
		return stays[0], nil
	}
	return noStay, fmt.Errorf("there are %d players %q in these ticks: --follow takes one of %s", len(dirs), player, strings.Join(dirs, ", "))
}

// fastest returns the demo of the fastest run of a player; of equal ones the first.
func (r *recording) fastest(player string) (d formats.Demo, err error) {
	list, _ := r.runs()
	if player != formats.AnyRun {
		list = slices.DeleteFunc(list, func(n run) bool { return !r.is(n.stay, player) })
	}
	switch {
	case len(list) > 0:
		best := bestRun(list)
		first, last := r.runTicks(best)
		return formats.Demo{
			Path: "demos/runs/" + r.runName(best), Length: tickTime(int64(last) - int64(first)),
			About: "the run of " + r.dirs[best.stay] + " in " + finishClock(best.time),
		}, nil
	case player == formats.AnyRun:
		return d, errors.New("nobody finished")
	}
	return d, fmt.Errorf("%q did not finish", player)
}
