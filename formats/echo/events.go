package echo

import "slices"

// A PlayerKey identifies a player.
type PlayerKey struct {
	ID    int64
	Name  string
	Lacks Lacks // of these
}

func (p *Player) identity() PlayerKey { return PlayerKey{p.UserID, p.Name, p.Lacks & LacksIdentity} }

// A rosterPlayer is a player in a frame.
type rosterPlayer struct {
	Team    int
	Stunned bool
	Player  Player
}

func (p *rosterPlayer) key() PlayerKey { return p.Player.identity() }

// A roster has the players of a frame in the order of its teams. Of two with the same identity the
// first counts.
type roster struct {
	Players []rosterPlayer
	at      map[PlayerKey]int
}

func (r *roster) fill(f *Frame) {
	r.Players = r.Players[:0]
	clear(r.at)
	for t := range f.Teams {
		for i := range f.Teams[t].Players {
			p := &f.Teams[t].Players[i]
			if r.find(p.identity()) == nil {
				r.Players = append(r.Players, rosterPlayer{t, p.Stunned && !p.Lacks.At(LacksStunned), *p})
				r.note(len(r.Players) - 1)
			}
		}
	}
}

// note makes find find the i-th player.
func (r *roster) note(i int) {
	if r.at == nil {
		r.at = map[PlayerKey]int{}
	}
	r.at[r.Players[i].key()] = i
}

// find returns the player with an identity, or nil.
func (r *roster) find(k PlayerKey) *rosterPlayer {
	if i, ok := r.at[k]; ok {
		return &r.Players[i]
	}
	return nil
}

// An Event is a line of events.jsonl.
type Event struct {
	Tick, Time int64
	Kind       string
	Player     *PlayerKey // nil: the event is of no player
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

// memory is about how many bytes the event takes.
func (e *Event) memory() int64 {
	n := 80 + int64(len(e.Rest))
	if e.Player != nil {
		n += 40 + int64(len(e.Player.Name))
	}
	return n
}

// put adds an event with the members that b has.
func (s *Summary) put(kind string, p *Player, b []byte) {
	event := Event{Tick: s.tick, Time: s.Last, Kind: kind, Rest: slices.Clone(b)}
	if p != nil {
		event.Player = new(p.identity())
		event.Rest = append(putInt(nil, `,"playerid":`, p.Lacks.At(LacksID), int64(p.ID)), b...)
	}
	s.events, s.buf = append(s.events, event), b[:0]
}

// compare adds what happened from the frame before to f.
func (s *Summary) compare(f *Frame) {
	if s.has(f, HasStatus, s.Ticks > 0 && s.Before.Status == f.Status) {
		b := appendMember(s.buf, "from", s.Before.Has&HasStatus == 0, s.Before.Status)
		s.put("status", nil, appendMember(b, "to", false, f.Status))
	}
	s.comeAndGo()
	if s.Ticks == 0 {
		return
	}
	if f.Score.GoalType != NoGoal && s.has(f, HasScore, sameScore(&s.Before, f)) {
		b := scoreObject.pick(s.buf, f, eventOf(f), "team", "point_amount", "goal_type", "person_scored", "assist_scored", "disc_speed", "distance_thrown")
		s.put("goal", nil, sessionObject.pick(b, f, eventOf(f), "blue_points", "orange_points"))
	}
	if s.has(f, HasThrow, sameThrow(&s.Before, f)) {
		s.put("throw", nil, throwObject.appendMembers(s.buf, f, eventOf(f)))
	}
	s.pause(f)
	s.restart(f)
	s.rules(f)
}

// has reports whether f has a part that the frame before did not have, or had with other values.
func (s *Summary) has(f *Frame, part Has, same bool) bool {
	return f.Has&part != 0 && (s.Before.Has&part == 0 || !same)
}

// comeAndGo adds the events of players.
func (s *Summary) comeAndGo() {
	for i := range s.then.Players {
		if old := &s.then.Players[i]; s.Roster.find(old.key()) == nil {
			s.put("leave", &old.Player, appendMember(s.buf, "team", false, TeamNames[old.Team]))
		}
	}
	each := func(fn func(old, now *rosterPlayer)) {
		for i := range s.Roster.Players {
			now := &s.Roster.Players[i]
			fn(s.then.find(now.key()), now)
		}
	}
	each(func(old, now *rosterPlayer) {
		if old == nil {
			b := putInt(s.buf, `,"number":`, now.Player.Lacks.At(LacksNumber), int64(now.Player.Number))
			b = putInt(b, `,"level":`, now.Player.Lacks.At(LacksLevel), int64(now.Player.Level))
			s.put("join", &now.Player, appendMember(b, "team", false, TeamNames[now.Team]))
		}
	})
	each(func(old, now *rosterPlayer) {
		if old != nil && old.Team != now.Team {
			b := appendMember(s.buf, "from", false, TeamNames[old.Team])
			s.put("team", &now.Player, appendMember(b, "to", false, TeamNames[now.Team]))
		}
	})
	each(func(old, now *rosterPlayer) {
		if old != nil && !old.Stunned && now.Stunned {
			s.put("stun", &now.Player, appendMember(s.buf, "team", false, TeamNames[now.Team]))
		}
	})
}

// eventOf is how members of f are written in events.
func eventOf(f *Frame) frameContext { return frameContext{event: true, lacks: f.Lacks} }

// same reports whether the values that f has, from a bit on, are those of the frame before.
func (s *Summary) same(f *Frame, first int, equal ...bool) bool {
	for i, same := range equal {
		if !f.Lacks.At(first+i) && (!same || s.Before.Lacks.At(first+i)) {
			return false
		}
	}
	return true
}

func (s *Summary) pause(f *Frame) {
	old, now := &s.Before.Pause, &f.Pause
	if s.has(f, HasPause, s.same(f, LacksPause, old.State == now.State, old.UnpausedTeam == now.UnpausedTeam, old.RequestedTeam == now.RequestedTeam)) {
		s.put("pause", nil, pauseObject.pick(s.buf, f, eventOf(f), "paused_state", "paused_requested_team", "unpaused_team"))
	}
}

func (s *Summary) restart(f *Frame) {
	old, now := &s.Before.Restart, &f.Restart
	if s.has(f, HasRestart, s.same(f, LacksRestart, old[0] == now[0], old[1] == now[1])) {
		s.put("restart", nil, sessionObject.pick(s.buf, f, eventOf(f), "blue_team_restart_request", "orange_team_restart_request"))
	}
}

func (s *Summary) rules(f *Frame) {
	old, now := &s.Before.Rules, &f.Rules
	if s.has(f, HasRules, s.same(f, LacksRules, old.At == now.At, old.By == now.By)) {
		s.put("rules", nil, sessionObject.pick(s.buf, f, eventOf(f), "rules_changed_by", "rules_changed_at"))
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

// sameFloat is equality in which NaN equals itself: a value that stays is no event.
func sameFloat(a, b float32) bool { return a == b || a != a && b != b }

// Results are what the frames of a recording add up to, besides its events.
type Results struct {
	Ticks, BonesTicks int64
	First, Last       int64     // times of the first and the last frame, if there is one
	Points            [2][]byte // of blue and orange in the last frame, as JSON
	Played            []playerResult
}

// sound reports whether saved results are possible.
func (r *Results) sound(ticks int64) bool {
	return r.Ticks == ticks && 0 <= r.BonesTicks && r.BonesTicks <= ticks &&
		!slices.ContainsFunc(r.Played, func(p playerResult) bool { return uint(p.Team) >= uint(len(TeamNames)) })
}

// byKey returns the places of the players.
func (r *Results) byKey() map[PlayerKey]int {
	places := make(map[PlayerKey]int, len(r.Played))
	for i := range r.Played {
		places[r.Played[i].Key] = i
	}
	return places
}

// A Summary collects what is made of all frames of a recording, which it takes in their order. Its
// exported fields are all that a later pass needs to go on, besides the events.
type Summary struct {
	Results
	Before Frame  // the last one, without players and bones
	Roster roster // its players

	events []Event
	then   roster            // of the frame before the last one
	of     map[PlayerKey]int // places of players in the results
	tick   int64             // of the last frame
	buf    []byte
}

// A playerResult is what scores.json says of one player.
type playerResult struct {
	Key                PlayerKey
	Number, Level      int32
	Lacks              Lacks // of number and level
	Team               int
	First, Last, Ticks int64
	HasStats           bool
	Stats              Stats
}

// Add takes the next frame.
func (s *Summary) Add(tick int64, f *Frame) {
	if s.tick, s.Last = tick, f.Time; s.Ticks == 0 {
		s.First = f.Time
	}
	s.then, s.Roster = s.Roster, s.then
	s.Roster.fill(f)
	s.compare(f)
	s.Ticks++
	if f.Has&HasBones != 0 {
		s.BonesTicks++
	}
	s.Before = *f
	for t := range s.Before.Teams {
		s.Before.Teams[t].Players = nil
	}
	s.Before.Bones = nil
	for i := range s.Roster.Players {
		s.player(&s.Roster.Players[i], f.Kind)
	}
}

// player adds a player of the last frame.
func (s *Summary) player(v *rosterPlayer, kind Kind) {
	if s.of == nil {
		s.of = s.byKey()
	}
	i, ok := s.of[v.key()]
	if !ok {
		i = len(s.Played)
		s.of[v.key()] = i
		s.Played = append(s.Played, playerResult{Key: v.key(), Number: v.Player.Number, Level: v.Player.Level, Lacks: v.Player.Lacks, First: s.tick})
	}
	p := &s.Played[i]
	p.Team, p.Last = v.Team, s.tick
	p.Ticks++
	if v.Player.HasStats && kind != Combat {
		p.HasStats, p.Stats = true, v.Player.Stats
	}
}
