package echo

import (
	"strconv"

	"recfs/formats/internal/jsonenc"
)

// An identity is what a player is known by.
type identity struct {
	id    int64
	name  string
	lacks Lacks // of these
}

func (p *Player) identity() identity { return identity{p.UserID, p.Name, p.Lacks & LacksIdentity} }

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
			k := p.identity()
			if _, ok := r.of[k]; !ok {
				r.of[k] = seen{t, p.Stunned && !p.Lacks.At(LacksStunned), *p}
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
	e.buf = append(e.buf, `,"time":`...)
	e.buf = append(e.buf, e.time...)
	e.buf = append(e.buf, `,"event":"`...)
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
	e.buf = appendMember(e.buf, "name", p.Lacks.At(LacksName), p.Name)
	e.key("userid")
	e.buf = appendLong(e.buf, p.Lacks.At(LacksUserID), p.UserID)
	e.key("playerid")
	e.buf = appendInt(e.buf, p.Lacks.At(LacksID), int64(p.ID))
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
			e.buf = appendInt(e.buf, p.player.Lacks.At(LacksNumber), int64(p.player.Number))
			e.key("level")
			e.buf = appendInt(e.buf, p.player.Lacks.At(LacksLevel), int64(p.player.Level))
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
	if f.Score.GoalType == NoGoal || !e.has(f, HasScore, sameScore(&e.before, f)) {
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
	lacks := func(i int) bool { return f.Lacks.At(LacksScore + i) }
	b = appendMember(b, "team", lacks(2), s.Team)
	b = append(b, `,"point_amount":`...)
	b = appendInt(b, lacks(4), s.Points)
	b = appendMember(b, "goal_type", lacks(3), s.GoalType)
	b = appendMember(b, "person_scored", lacks(5), s.Scorer)
	b = appendMember(b, "assist_scored", lacks(6), s.Assist)
	b = append(b, `,"disc_speed":`...)
	b = appendFloat(b, lacks(0), s.DiscSpeed)
	b = append(b, `,"distance_thrown":`...)
	b = appendFloat(b, lacks(1), s.Distance)
	b = append(b, `,"blue_points":`...)
	b = appendPoints(b, f, 0)
	b = append(b, `,"orange_points":`...)
	return appendPoints(b, f, 1)
}

func (e *events) throw(f *Frame) {
	if !e.has(f, HasThrow, sameThrow(&e.before, f)) {
		return
	}
	e.start("throw")
	e.buf = append(e.buf, ',')
	e.buf = appendThrow(e.buf, f)
	e.end()
}

// same reports whether those values from a bit on that f has are the ones before.
func (e *events) same(f *Frame, first int, equal ...bool) bool {
	for i, same := range equal {
		if !f.Lacks.At(first+i) && (!same || e.before.Lacks.At(first+i)) {
			return false
		}
	}
	return true
}

func (e *events) pause(f *Frame) {
	a, b := &e.before.Pause, &f.Pause
	if !e.has(f, HasPause, e.same(f, LacksPause, a.State == b.State, a.UnpausedTeam == b.UnpausedTeam, a.RequestedTeam == b.RequestedTeam)) {
		return
	}
	e.start("pause")
	e.buf = appendMember(e.buf, "paused_state", f.Lacks.At(LacksPause), b.State)
	e.buf = appendMember(e.buf, "paused_requested_team", f.Lacks.At(LacksPause+2), b.RequestedTeam)
	e.buf = appendMember(e.buf, "unpaused_team", f.Lacks.At(LacksPause+1), b.UnpausedTeam)
	e.end()
}

func (e *events) restart(f *Frame) {
	a, b := &e.before.Restart, &f.Restart
	if !e.has(f, HasRestart, e.same(f, LacksRestart, a[0] == b[0], a[1] == b[1])) {
		return
	}
	e.start("restart")
	for i, key := range [...]string{"blue_team_restart_request", "orange_team_restart_request"} {
		e.key(key)
		e.buf = appendInt(e.buf, f.Lacks.At(LacksRestart+i), b[i])
	}
	e.end()
}

func (e *events) rules(f *Frame) {
	a, b := &e.before.Rules, &f.Rules
	if !e.has(f, HasRules, e.same(f, LacksRules, a.At == b.At, a.By == b.By)) {
		return
	}
	e.start("rules")
	e.buf = appendMember(e.buf, "rules_changed_by", f.Lacks.At(LacksRules+1), b.By)
	e.key("rules_changed_at")
	e.buf = appendLong(e.buf, f.Lacks.At(LacksRules), b.At)
	e.end()
}

func sameScore(a, b *Frame) bool {
	x, y := a.Score, b.Score
	x.DiscSpeed, x.Distance, y.DiscSpeed, y.Distance = 0, 0, 0, 0
	return x == y && sameFloat(a.Score.DiscSpeed, b.Score.DiscSpeed) && sameFloat(a.Score.Distance, b.Score.Distance) &&
		a.Lacks.Of(LacksScore, LacksThrow-LacksScore) == b.Lacks.Of(LacksScore, LacksThrow-LacksScore)
}

func sameThrow(a, b *Frame) bool {
	for i := range a.Throw {
		if !sameFloat(a.Throw[i], b.Throw[i]) {
			return false
		}
	}
	return a.Lacks.Of(LacksThrow, len(a.Throw)) == b.Lacks.Of(LacksThrow, len(b.Throw))
}

// sameFloat is equality with NaN equal to itself: a value that stays is not an event.
func sameFloat(a, b float32) bool { return a == b || a != a && b != b }
