package teehistorian

import (
	"cmp"
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
	from, to, err := r.stretch(head.(*header).began, q)
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

// isThere reports whether the stay is in the ticks of a demo.
func (s *stay) isThere(in demoID) bool {
	return s.First <= in.last && (s.Drop == nil || *s.Drop >= in.first)
}

// is reports whether a stay is that of a player, who is given by a name or by a directory.
func (r *recording) is(stay int32, player string) bool {
	return r.dirs[stay] == player || slices.Contains(r.idx.stays[stay].Names, player)
}

// whoPlays returns the stay of a player in the ticks of a demo. A name that is a directory means
// only that one.
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

// fastest returns the demo of the fastest run of a player, the first of equal ones.
func (r *recording) fastest(player string) (d formats.Demo, err error) {
	list := r.runs()
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

// A moment is a time in the unit in which it was given: messages tell other times in the same.
type moment struct {
	text string
	tick int64
	show func(tick int64) string
	span func(ticks int64) string // how long so many are
}

// moment reads a tick, a time of the recording's clock, a time of day or a date. A time that
// may be either of the clock or of the day is of the clock, unless the recording is over by then.
func (r *recording) moment(start startTime, text string) (m moment, err error) {
	ofClock := func(n int64) string { return string(appendClock(nil, n)) }
	n, ok := parseTick(text)
	m = moment{text, n, ofClock, ofClock}
	if ok && !strings.Contains(text, ":") {
		m.show = func(n int64) string { return "tick " + strconv.FormatInt(n, 10) }
		m.text, m.span = m.show(n), func(n int64) string { return strconv.FormatInt(n, 10) + " ticks" }
		return m, nil
	}
	if ok && r.idx.spans(n) {
		return m, nil
	}
	if at, dated := start.tick(text); dated && (!ok || r.idx.spans(at)) {
		return moment{text, at, func(n int64) string { return start.Add(tickTime(n)).Format("2006-01-02T15:04:05.00Z07:00") }, ofClock}, nil
	}
	if !ok {
		return m, fmt.Errorf("%q is no tick, and no time like 1:02:03, 14:27:00 or 2026-11-21T14:27:00Z of this recording", text)
	}
	return m, nil
}

// stretch returns the ticks that a query asks for, which the recording has.
func (r *recording) stretch(start startTime, q formats.DemoQuery) (from, to int64, err error) {
	first, last := int64(r.idx.firstTick()), int64(r.idx.lastTick())
	if q.Around != "" {
		m, way, err := r.around(start, q.Around)
		if err == nil {
			err = cmp.Or(m.check(first, last), m.fits(2*way))
		}
		return max(m.tick-way, first), min(m.tick+way, last), err
	}
	a, err := r.moment(start, q.From)
	if err != nil {
		return 0, 0, err
	}
	b, err := r.moment(start, q.To)
	switch {
	case err != nil:
	case a.tick >= b.tick:
		err = fmt.Errorf("FROM, %s, is not before TO, %s", a.text, b.text)
	default:
		err = cmp.Or(a.check(first, last), b.check(first, last), b.fits(b.tick-a.tick))
	}
	return a.tick, b.tick, err
}

// check returns an error if the recording does not have the moment.
func (m *moment) check(first, last int64) error {
	switch {
	case m.tick < first:
		return fmt.Errorf("%s is before the beginning of the recording, %s", m.text, m.show(first))
	case m.tick > last:
		return fmt.Errorf("%s is behind the end of the recording, %s", m.text, m.show(last))
	}
	return nil
}

// fits returns an error if a demo cannot have so many ticks.
func (m *moment) fits(ticks int64) error {
	if ticks <= maxDemo {
		return nil
	}
	return fmt.Errorf("that is %s, and a demo has at most %s", m.span(ticks), m.span(maxDemo))
}

// usualWay is how far a demo around a moment reaches before and after it.
const usualWay = 30 * time.Second

// around reads TIME or TIME±SPAN.
func (r *recording) around(start startTime, text string) (m moment, ticks int64, err error) {
	at, span, given := strings.Cut(strings.Replace(text, "+-", "±", 1), "±")
	way := usualWay
	if given {
		if way, err = time.ParseDuration(span); err != nil || way < tickTime(1) {
			return m, 0, fmt.Errorf("%q is no length of time like 30s or 2m", span)
		}
	}
	m, err = r.moment(start, at)
	return m, int64(way / tickTime(1)), err
}
