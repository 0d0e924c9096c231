package echoreplay

import (
	"slices"
	"strings"

	"recfs/formats/internal/echovr"
	"recfs/formats/internal/jsonenc"
)

// maxPlayers bounds the players of a team that events and tables know, as in butter. A match has at
// most 15.
const maxPlayers = 255

// A reader reads lines. It keeps memory from one to the next.
type reader struct {
	players [3][]echovr.Player // of each team
	lean    bool               // only for what tables have
	stored  *echovr.Session    // what takes the members of a session; nil: nothing
}

// read takes from the session what events, scores and tables are made of.
func (r *reader) read(f *frame) {
	f.Kind, f.Lacks = echovr.Other, echovr.LacksFrame
	w := jsonenc.Walk(f.session)
	for key := range w.Members() {
		if string(key) == `"teams"` {
			for i := range w.Elements(len(f.Teams)) {
				r.team(&f.Teams[i], &r.players[i], &w)
			}
			continue
		}
		value := w.Value()
		if r.stored != nil {
			r.stored.Member(key, value)
		}
		if !r.lean || string(key) == `"match_type"` || string(key) == `"map_name"` {
			f.member(string(key[1:len(key)-1]), value)
		}
	}
	for _, part := range parts {
		if f.Lacks.Of(part.first, part.n) != 1<<part.n-1 {
			f.Has |= part.has
		}
	}
	if f.Kind == echovr.Combat {
		f.Has &^= echovr.HasStatus | echovr.HasRestart | echovr.HasRules | echovr.HasScore
	}
	if !r.lean && hasBones(f.bones) {
		f.Has |= echovr.HasBones
	}
}

// parts are those of a frame that is there if one of its values is.
var parts = [...]struct {
	has      echovr.Has
	first, n int
}{
	{echovr.HasRestart, echovr.LacksRestart, 2},
	{echovr.HasPause, echovr.LacksPause, 3},
	{echovr.HasScore, echovr.LacksScore, 7},
	{echovr.HasThrow, echovr.LacksThrow, len(echovr.Throw{})},
	{echovr.HasRules, echovr.LacksRules, 2},
}

// take sets a value to what v is, or says that it is lacking.
func take[T any](to *T, l *echovr.Lacks, bit int, v []byte, parse func([]byte) (T, bool)) {
	x, ok := parse(v)
	*to = x
	l.Set(bit, !ok)
}

// hasBones reports whether the bones of anyone are in a document.
func hasBones(bones []byte) bool {
	w := jsonenc.Walk(bones)
	for key := range w.Members() {
		if string(key) == `"user_bones"` {
			for range w.Elements(1) {
				return true
			}
		} else {
			w.Value()
		}
	}
	return false
}

func (f *frame) member(key string, v []byte) {
	l := &f.Lacks
	switch key {
	case "match_type", "map_name":
		if s, _ := echovr.ParseText(v); strings.HasPrefix(s, "Echo_Combat") || strings.HasPrefix(s, "mpl_combat_") {
			f.Kind = echovr.Combat
		} else if s == "mpl_arena_a" && f.Kind == echovr.Other {
			f.Kind = echovr.Arena
		}
	case "game_status":
		var ok bool
		if f.Status, ok = echovr.ParseText(v); ok {
			f.Has |= echovr.HasStatus
		}
	case "blue_points":
		take(&f.Points[0], l, echovr.LacksPoints, v, echovr.ParseFloat)
	case "orange_points":
		take(&f.Points[1], l, echovr.LacksPoints+1, v, echovr.ParseFloat)
	case "blue_team_restart_request":
		take(&f.Restart[0], l, echovr.LacksRestart, v, echovr.ParseInt)
	case "orange_team_restart_request":
		take(&f.Restart[1], l, echovr.LacksRestart+1, v, echovr.ParseInt)
	case "pause":
		f.pause(v)
	case "last_score":
		f.score(v)
	case "last_throw":
		f.throw(v)
	case "disc":
		f.disc(v)
	case "rules_changed_at":
		take(&f.Rules.At, l, echovr.LacksRules, v, echovr.ParseInt)
	case "rules_changed_by":
		take(&f.Rules.By, l, echovr.LacksRules+1, v, echovr.ParseText)
	}
}

func (f *frame) pause(v []byte) {
	for key, v := range members(v) {
		switch string(key) {
		case "paused_state":
			take(&f.Pause.State, &f.Lacks, echovr.LacksPause, v, echovr.ParseText)
		case "unpaused_team":
			take(&f.Pause.UnpausedTeam, &f.Lacks, echovr.LacksPause+1, v, echovr.ParseText)
		case "paused_requested_team":
			take(&f.Pause.RequestedTeam, &f.Lacks, echovr.LacksPause+2, v, echovr.ParseText)
		}
	}
}

func (f *frame) score(v []byte) {
	s, l := &f.Score, &f.Lacks
	for key, v := range members(v) {
		switch string(key) {
		case "disc_speed":
			take(&s.DiscSpeed, l, echovr.LacksScore, v, echovr.ParseFloat)
		case "distance_thrown":
			take(&s.Distance, l, echovr.LacksScore+1, v, echovr.ParseFloat)
		case "team":
			take(&s.Team, l, echovr.LacksScore+2, v, echovr.ParseText)
		case "goal_type":
			take(&s.GoalType, l, echovr.LacksScore+3, v, echovr.ParseText)
		case "point_amount":
			take(&s.Points, l, echovr.LacksScore+4, v, echovr.ParseInt)
		case "person_scored":
			take(&s.Scorer, l, echovr.LacksScore+5, v, echovr.ParseText)
		case "assist_scored":
			take(&s.Assist, l, echovr.LacksScore+6, v, echovr.ParseText)
		}
	}
}

func (f *frame) throw(v []byte) {
	for key, v := range members(v) {
		if i := slices.Index(echovr.ThrowKeys[:], string(key)); i >= 0 {
			take(&f.Throw[i], &f.Lacks, echovr.LacksThrow+i, v, echovr.ParseFloat)
		}
	}
}

func (f *frame) disc(v []byte) {
	w := jsonenc.Walk(v)
	if w.Peek() != '{' {
		return
	}
	f.Has |= echovr.HasDisc
	for key := range w.Members() {
		switch string(key) {
		case `"position"`:
			vec(&f.Disc.Position, &f.Lacks, echovr.LacksDisc, &w)
		case `"velocity"`:
			vec(&f.Disc.Velocity, &f.Lacks, echovr.LacksDisc+3, &w)
		default:
			w.Value()
		}
	}
}

// team reads the next value. The last list of players that a team has counts. They are in the memory of list, where they stay until
// the next frame is read, or else are copied.
func (r *reader) team(t *echovr.Team, list *[]echovr.Player, w *jsonenc.Walker) {
	for key := range w.Members() {
		if string(key) != `"players"` || w.Peek() != '[' {
			w.Value()
			continue
		}
		players := (*list)[:0]
		for range w.Elements(maxPlayers) {
			players = append(players, echovr.Player{Lacks: echovr.LacksPlayer})
			p := &players[len(players)-1]
			for key := range w.Members() {
				r.player(p, string(key), w)
			}
		}
		if *list, t.Players = players, players; r.stored == nil {
			t.Players = append(make([]echovr.Player, 0, len(players)), players...)
		}
	}
}

// player reads the value of a key.
func (r *reader) player(p *echovr.Player, key string, w *jsonenc.Walker) {
	l := &p.Lacks
	switch key {
	case `"name"`:
		take(&p.Name, l, echovr.LacksName, w.Value(), echovr.ParseText)
	case `"userid"`:
		take(&p.UserID, l, echovr.LacksUserID, w.Value(), echovr.ParseInt)
	case `"playerid"`:
		take(&p.ID, l, echovr.LacksID, w.Value(), echovr.ParseInt32)
	case `"number"`:
		take(&p.Number, l, echovr.LacksNumber, w.Value(), echovr.ParseInt32)
	case `"level"`:
		take(&p.Level, l, echovr.LacksLevel, w.Value(), echovr.ParseInt32)
	case `"ping"`:
		take(&p.Ping, l, echovr.LacksPing, w.Value(), echovr.ParseInt32)
	case `"possession"`:
		take(&p.Possession, l, echovr.LacksFlags, w.Value(), echovr.ParseBool)
	case `"blocking"`:
		take(&p.Blocking, l, echovr.LacksFlags+1, w.Value(), echovr.ParseBool)
	case `"stunned"`:
		take(&p.Stunned, l, echovr.LacksStunned, w.Value(), echovr.ParseBool)
	case `"invulnerable"`:
		take(&p.Invulnerable, l, echovr.LacksFlags+3, w.Value(), echovr.ParseBool)
	case `"holding_left"`:
		p.Holding[0], _ = echovr.ParseText(w.Value())
	case `"holding_right"`:
		p.Holding[1], _ = echovr.ParseText(w.Value())
	case `"head"`:
		position(&p.Poses[echovr.Head].Position, l, echovr.LacksPlaces, w)
	case `"velocity"`:
		vec(&p.Velocity, l, echovr.LacksPlaces+3, w)
	case `"body"`:
		position(&p.Poses[echovr.Body].Position, l, echovr.LacksPlaces+6, w)
	case `"lhand"`:
		position(&p.Poses[echovr.LeftHand].Position, l, echovr.LacksPlaces+9, w)
	case `"rhand"`:
		position(&p.Poses[echovr.RightHand].Position, l, echovr.LacksPlaces+12, w)
	case `"stats"`:
		p.HasStats = w.Peek() == '{'
		if r.lean {
			w.Value()
		} else {
			p.Stats = readStats(w.Value())
		}
	default:
		w.Value()
	}
}

func readStats(v []byte) echovr.Stats {
	s := echovr.Stats{Lacks: echovr.LacksStats}
	for key, v := range members(v) {
		if string(key) == "possession_time" {
			take(&s.PossessionTime, &s.Lacks, 0, v, echovr.ParseFloat)
		} else if i := slices.Index(echovr.StatKeys[:], string(key)); i >= 0 {
			take(&s.Counts[i], &s.Lacks, 1+i, v, echovr.ParseInt32)
		}
	}
	return s
}

// position reads the place of a head, body or hand, the next value. Old recordings have bare lists for hands.
func position(p *echovr.Vec3, l *echovr.Lacks, bit int, w *jsonenc.Walker) {
	if w.Peek() == '[' {
		vec(p, l, bit, w)
		return
	}
	for i := range p {
		l.Set(bit+i, true)
	}
	for key := range w.Members() {
		if string(key) == `"position"` || string(key) == `"pos"` {
			vec(p, l, bit, w)
			w.Leave()
			break
		}
		w.Value()
	}
}

// vec reads the next value.
func vec(p *echovr.Vec3, l *echovr.Lacks, bit int, w *jsonenc.Walker) {
	n := 0
	for i := range w.Elements(len(p)) {
		take(&p[i], l, bit+i, w.Value(), echovr.ParseFloat)
		n++
	}
	for i := n; i < len(p); i++ {
		p[i] = 0
		l.Set(bit+i, true)
	}
}
