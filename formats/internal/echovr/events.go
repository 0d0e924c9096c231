package echovr

import (
	"strconv"

	"recfs/formats/internal/jsonenc"
)

// An identity is what a player is known by.
type identity struct {
	id   int64
	name string
}

// seen is a player as the frame before last showed it.
type seen struct {
	team    int
	stunned bool
	player  Player
}

// A roster is the players of one frame in the order of its teams; of two with the same identity the
// first counts.
type roster struct {
	order []identity
	of    map[identity]seen
}

func (r *roster) fill(f *Frame) {
	r.order = r.order[:0]
	if r.of == nil {
		r.of = map[identity]seen{}
	}
	clear(r.of)
	for t := range f.Teams {
		for i := range f.Teams[t].Players {
			p := &f.Teams[t].Players[i]
			k := identity{p.UserID, p.Name}
			if _, ok := r.of[k]; !ok {
				r.of[k] = seen{t, p.Stunned && f.Kind != Combat, *p}
				r.order = append(r.order, k)
			}
		}
	}
}

// events appends one line for each thing that happened between two frames.
type events struct {
	buf        []byte
	before     Frame // without players and bones
	then, now  roster
	any        bool // whether there was a frame before
	tick, time string
}

func (e *events) start(kind string) {
	e.buf = append(e.buf, `{"tick":`...)
	e.buf = append(e.buf, e.tick...)
	e.buf = append(e.buf, `,"time":"`...)
	e.buf = append(e.buf, e.time...)
	e.buf = append(e.buf, `","event":"`...)
	e.buf = append(e.buf, kind...)
	e.buf = append(e.buf, '"')
}

func (e *events) end() { e.buf = append(e.buf, '}', '\n') }

func (e *events) str(key, value string) {
	e.key(key)
	e.buf = jsonenc.AppendString(e.buf, value)
}

func (e *events) key(key string) { e.buf = jsonenc.AppendKey(e.buf, key) }

func (e *events) player(p *Player) {
	e.buf = jsonenc.AppendText(e.buf, "name", p.Name)
	e.key("userid")
	e.buf = jsonenc.AppendInt64(e.buf, p.UserID)
	e.key("playerid")
	e.buf = jsonenc.AppendInt(e.buf, p.ID)
}

// add compares f with the frame before, and reports whether there is a new goal.
func (e *events) add(tick int64, f *Frame) (goal bool) {
	e.tick = strconv.FormatInt(tick, 10)
	e.time = string(AppendTime(nil, f.Time))
	e.then, e.now = e.now, e.then
	e.now.fill(f)
	e.status(f)
	e.players()
	if e.any {
		goal = e.goal(f)
		e.throw(f)
		e.pause(f)
		e.restart(f)
		e.rules(f)
	}
	e.before, e.any = *f, true
	for t := range e.before.Teams {
		e.before.Teams[t].Players = nil
	}
	e.before.Bones = nil
	return goal
}

// has reports whether a part of f is there and either was not before or is another now.
func (e *events) has(f *Frame, part Has, same bool) bool {
	return f.Has&part != 0 && (e.before.Has&part == 0 || !same)
}

func (e *events) status(f *Frame) {
	if !e.has(f, HasStatus, e.any && e.before.Status == f.Status) {
		return
	}
	e.start("status")
	e.key("from")
	if e.before.Has&HasStatus != 0 {
		e.buf = jsonenc.AppendString(e.buf, e.before.Status)
	} else {
		e.buf = append(e.buf, `null`...)
	}
	e.str("to", f.Status)
	e.end()
}

func (e *events) players() {
	for _, k := range e.then.order {
		if _, ok := e.now.of[k]; !ok {
			old := e.then.of[k]
			e.start("leave")
			e.player(&old.player)
			e.str("team", TeamNames[old.team])
			e.end()
		}
	}
	for _, k := range e.now.order {
		if _, ok := e.then.of[k]; !ok {
			p := e.now.of[k]
			e.start("join")
			e.player(&p.player)
			e.key("number")
			e.buf = jsonenc.AppendInt(e.buf, p.player.Number)
			e.key("level")
			e.buf = jsonenc.AppendInt(e.buf, p.player.Level)
			e.str("team", TeamNames[p.team])
			e.end()
		}
	}
	for _, k := range e.now.order {
		if old, ok := e.then.of[k]; ok && old.team != e.now.of[k].team {
			p := e.now.of[k]
			e.start("team")
			e.player(&p.player)
			e.str("from", TeamNames[old.team])
			e.str("to", TeamNames[p.team])
			e.end()
		}
	}
	for _, k := range e.now.order {
		if old, ok := e.then.of[k]; ok && !old.stunned && e.now.of[k].stunned {
			p := e.now.of[k]
			e.start("stun")
			e.player(&p.player)
			e.str("team", TeamNames[p.team])
			e.end()
		}
	}
}

func (e *events) goal(f *Frame) bool {
	if f.Score.GoalType == NoGoal || !e.has(f, HasScore, sameScore(&e.before.Score, &f.Score)) {
		return false
	}
	e.start("goal")
	e.buf = appendGoal(e.buf, f)
	e.end()
	return true
}

// appendGoal appends the members of a goal after its time.
func appendGoal(b []byte, f *Frame) []byte {
	s := &f.Score
	b = append(b, `,"team":`...)
	b = jsonenc.AppendString(b, s.Team)
	b = append(b, `,"point_amount":`...)
	b = jsonenc.AppendInt(b, s.Points)
	b = append(b, `,"goal_type":`...)
	b = jsonenc.AppendString(b, s.GoalType)
	b = jsonenc.AppendText(b, "person_scored", s.Scorer)
	b = jsonenc.AppendText(b, "assist_scored", s.Assist)
	b = append(b, `,"disc_speed":`...)
	b = appendFloat(b, s.DiscSpeed)
	b = append(b, `,"distance_thrown":`...)
	b = appendFloat(b, s.Distance)
	b = append(b, `,"blue_points":`...)
	b = appendPoints(b, f.Points[0], f.Kind == Combat)
	b = append(b, `,"orange_points":`...)
	return appendPoints(b, f.Points[1], f.Kind == Combat)
}

func (e *events) throw(f *Frame) {
	if !e.has(f, HasThrow, sameThrow(&e.before.Throw, &f.Throw)) {
		return
	}
	e.start("throw")
	e.buf = append(e.buf, ',')
	e.buf = appendThrow(e.buf, &f.Throw)
	e.end()
}

func (e *events) pause(f *Frame) {
	a, b := &e.before.Pause, &f.Pause
	if !e.has(f, HasPause, a.State == b.State && a.RequestedTeam == b.RequestedTeam && a.UnpausedTeam == b.UnpausedTeam) {
		return
	}
	e.start("pause")
	e.str("paused_state", b.State)
	e.str("paused_requested_team", b.RequestedTeam)
	e.str("unpaused_team", b.UnpausedTeam)
	e.end()
}

func (e *events) restart(f *Frame) {
	if !e.has(f, HasRestart, e.before.Restart == f.Restart) {
		return
	}
	e.start("restart")
	e.key("blue_team_restart_request")
	e.buf = appendBit(e.buf, f.Restart[0])
	e.key("orange_team_restart_request")
	e.buf = appendBit(e.buf, f.Restart[1])
	e.end()
}

func (e *events) rules(f *Frame) {
	if !e.has(f, HasRules, e.before.Rules == f.Rules) {
		return
	}
	e.start("rules")
	e.buf = jsonenc.AppendText(e.buf, "rules_changed_by", f.Rules.By)
	e.key("rules_changed_at")
	e.buf = jsonenc.AppendInt64(e.buf, f.Rules.At)
	e.end()
}

func sameScore(a, b *Score) bool {
	x, y := *a, *b
	x.DiscSpeed, x.Distance, y.DiscSpeed, y.Distance = 0, 0, 0, 0
	return x == y && sameFloat(a.DiscSpeed, b.DiscSpeed) && sameFloat(a.Distance, b.Distance)
}

func sameThrow(a, b *Throw) bool {
	for i := range a {
		if !sameFloat(a[i], b[i]) {
			return false
		}
	}
	return true
}

// sameFloat is equality with NaN equal to itself: a value that stays is not an event.
func sameFloat(a, b float32) bool { return a == b || a != a && b != b }
