package teehistorian

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"recfs/formats"
)

// pickDemo is the Demo of the format.
func pickDemo(found formats.Index, q formats.DemoQuery) (path string, err error) {
	r := found.(*index).named()
	if q.Run != "" {
		return r.fastest(q.Run)
	}
	named, ok := parseDemoName(q.From + "-" + q.To + demoExt)
	id, there := named.find(r)
	switch x := r.idx; {
	case len(x.chunks) == 0:
		return "", errors.New("the recording has no ticks")
	case !ok || !there:
		return "", fmt.Errorf("there is no demo from %s to %s: the recording has the ticks %d to %d, and a demo is at most half an hour long",
			q.From, q.To, x.firstTick(), x.lastTick())
	case q.Follow != "":
		id.follow, err = r.whoPlays(q.Follow, id)
	}
	return "demos/" + r.demoName(id), err
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
		if !r.is(stay, player) || s.first > in.last || s.drop != nil && *s.drop < in.first {
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

// fastest returns the path of the demo of the fastest run of a player; of equal ones the first.
func (r *recording) fastest(player string) (string, error) {
	list, _ := r.runs()
	if player != formats.AnyRun {
		list = slices.DeleteFunc(list, func(n run) bool { return !r.is(n.stay, player) })
	}
	switch {
	case len(list) > 0:
		best := slices.MinFunc(list, func(a, b run) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.tick, b.tick)) })
		return "demos/runs/" + r.runName(&best), nil
	case player == formats.AnyRun:
		return "", errors.New("nobody finished")
	}
	return "", fmt.Errorf("%q did not finish", player)
}
