package echo

import "slices"

// A PlayerKey is what a player is known by.
type PlayerKey struct {
	ID    int64
	Name  string
	Lacks Lacks // of these
}

func (p *Player) identity() PlayerKey { return PlayerKey{p.UserID, p.Name, p.Lacks & LacksIdentity} }

// A seen is a player as the frame before last showed it.
type seen struct {
	Team    int
	Stunned bool
	Player  Player
}

// A roster is the players of one frame in the order of its teams; of two with the same identity the
// first counts.
type roster struct {
	order []PlayerKey
	of    map[PlayerKey]seen
}

func (r *roster) fill(f *Frame) {
	r.order = r.order[:0]
	if r.of == nil {
		r.of = map[PlayerKey]seen{}
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

// An Event is a line of events.jsonl.
type Event struct {
	Tick, Time int64
	Kind       string
	Player     *PlayerKey // nil: it is of nobody
	Rest       []byte     // the other members, each behind a comma
}

// appendLine appends the line.
func (e *Event) appendLine(b []byte) []byte {
	b = putInt(b, `{"tick":`, false, e.Tick)
	b = AppendTime(append(b, `,"time":`...), e.Time)
	b = appendMember(b, "event", false, e.Kind)
	if e.Player != nil {
		b = appendMember(b, "name", e.Player.Lacks.At(LacksName), e.Player.Name)
		b = putLong(b, `,"userid":`, e.Player.Lacks.At(LacksUserID), e.Player.ID)
	}
	return append(append(b, e.Rest...), '}', '\n')
}

// memory is about what the event keeps alive.
func (e *Event) memory() int64 {
	n := 80 + int64(len(e.Rest))
	if e.Player != nil {
		n += 40 + int64(len(e.Player.Name))
	}
	return n
}

// An eventList has what happened from each frame to the next.
type eventList struct {
	list       []Event
	before     Frame // without players and bones
	then, now  roster
	any        bool // whether there was a frame before
	tick, time int64
	buf        []byte
}

// put adds an event with the members that b has.
func (e *eventList) put(kind string, p *Player, b []byte) {
	event := Event{Tick: e.tick, Time: e.time, Kind: kind, Rest: slices.Clone(b)}
	if p != nil {
		k := p.identity()
		event.Player = &k
		event.Rest = append(putInt(nil, `,"playerid":`, p.Lacks.At(LacksID), int64(p.ID)), b...)
	}
	e.list, e.buf = append(e.list, event), b[:0]
}

// add compares f with the frame before, and reports whether there is a new goal.
func (e *eventList) add(tick int64, f *Frame) (goal bool) {
	e.tick, e.time = tick, f.Time
	e.then, e.now = e.now, e.then
	e.now.fill(f)
	e.status(f)
	e.players()
	if e.any {
		goal = e.goal(f)
		if e.has(f, HasThrow, sameThrow(&e.before, f)) {
			e.put("throw", nil, throwObject.appendMembers(e.buf, f, eventOf(f)))
		}
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
func (e *eventList) has(f *Frame, part Has, same bool) bool {
	return f.Has&part != 0 && (e.before.Has&part == 0 || !same)
}

func (e *eventList) status(f *Frame) {
	if e.has(f, HasStatus, e.any && e.before.Status == f.Status) {
		b := appendMember(e.buf, "from", e.before.Has&HasStatus == 0, e.before.Status)
		e.put("status", nil, appendMember(b, "to", false, f.Status))
	}
}

func (e *eventList) players() {
	for _, k := range e.then.order {
		if _, ok := e.now.of[k]; !ok {
			old := e.then.of[k]
			e.put("leave", &old.Player, appendMember(e.buf, "team", false, TeamNames[old.Team]))
		}
	}
	for _, k := range e.now.order {
		if _, ok := e.then.of[k]; !ok {
			p := e.now.of[k]
			b := putInt(e.buf, `,"number":`, p.Player.Lacks.At(LacksNumber), int64(p.Player.Number))
			b = putInt(b, `,"level":`, p.Player.Lacks.At(LacksLevel), int64(p.Player.Level))
			e.put("join", &p.Player, appendMember(b, "team", false, TeamNames[p.Team]))
		}
	}
	for _, k := range e.now.order {
		if old, ok := e.then.of[k]; ok && old.Team != e.now.of[k].Team {
			p := e.now.of[k]
			b := appendMember(e.buf, "from", false, TeamNames[old.Team])
			e.put("team", &p.Player, appendMember(b, "to", false, TeamNames[p.Team]))
		}
	}
	for _, k := range e.now.order {
		if old, ok := e.then.of[k]; ok && !old.Stunned && e.now.of[k].Stunned {
			p := e.now.of[k]
			e.put("stun", &p.Player, appendMember(e.buf, "team", false, TeamNames[p.Team]))
		}
	}
}

func (e *eventList) goal(f *Frame) bool {
	if f.Score.GoalType == NoGoal || !e.has(f, HasScore, sameScore(&e.before, f)) {
		return false
	}
	e.put("goal", nil, appendGoal(e.buf, f))
	return true
}

// eventOf is how members of f are written in events.
func eventOf(f *Frame) writing { return writing{event: true, lacks: f.Lacks} }

// appendGoal appends the members of a goal after its time.
func appendGoal(b []byte, f *Frame) []byte {
	b = scoreObject.pick(b, f, eventOf(f), "team", "point_amount", "goal_type", "person_scored", "assist_scored", "disc_speed", "distance_thrown")
	return sessionObject.pick(b, f, eventOf(f), "blue_points", "orange_points")
}

// same reports whether those values from a bit on that f has are the ones before.
func (e *eventList) same(f *Frame, first int, equal ...bool) bool {
	for i, same := range equal {
		if !f.Lacks.At(first+i) && (!same || e.before.Lacks.At(first+i)) {
			return false
		}
	}
	return true
}

func (e *eventList) pause(f *Frame) {
	old, now := &e.before.Pause, &f.Pause
	if e.has(f, HasPause, e.same(f, LacksPause, old.State == now.State, old.UnpausedTeam == now.UnpausedTeam, old.RequestedTeam == now.RequestedTeam)) {
		e.put("pause", nil, pauseObject.pick(e.buf, f, eventOf(f), "paused_state", "paused_requested_team", "unpaused_team"))
	}
}

func (e *eventList) restart(f *Frame) {
	old, now := &e.before.Restart, &f.Restart
	if e.has(f, HasRestart, e.same(f, LacksRestart, old[0] == now[0], old[1] == now[1])) {
		e.put("restart", nil, sessionObject.pick(e.buf, f, eventOf(f), "blue_team_restart_request", "orange_team_restart_request"))
	}
}

func (e *eventList) rules(f *Frame) {
	old, now := &e.before.Rules, &f.Rules
	if e.has(f, HasRules, e.same(f, LacksRules, old.At == now.At, old.By == now.By)) {
		e.put("rules", nil, sessionObject.pick(e.buf, f, eventOf(f), "rules_changed_by", "rules_changed_at"))
	}
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
