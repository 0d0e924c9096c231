package echo

import (
	"slices"
	"strings"

	"recfs/formats/internal/jsonenc"
)

// maxPlayers bounds the players of a team that events and tables know, as in butter. A match has at
// most 15.
const maxPlayers = 255

// A lineParser reads lines. It keeps memory from one to the next.
type lineParser struct {
	players [3][]Player // of each team
	lean    bool        // only for what tables have, of one frame at a time
	sound   bool        // the documents are known to be JSON
}

// read takes from the session what events, scores and tables are made of.
func (r *lineParser) read(f *replayFrame) {
	f.Kind, f.Lacks = Other, LacksFrame
	w := jsonenc.Walk(f.session)
	for key := range w.Members() {
		switch {
		case string(key) == `"teams"`:
			for i := range w.Elements(len(f.Teams)) {
				r.team(&f.Teams[i], &r.players[i], &w)
			}
		case r.lean && (string(key) == `"last_throw"` || string(key) == `"last_score"`):
			w.Value() // which no table has
		default:
			f.member(string(key[1:len(key)-1]), w.Value())
		}
	}
	for _, part := range frameParts {
		if f.Lacks.Of(part.first, part.n) != 1<<part.n-1 {
			f.Has |= part.has
		}
	}
	if f.Kind == Combat {
		f.Has &^= HasStatus | HasRestart | HasRules | HasScore
	}
	if !r.lean && hasBones(f.bones) {
		f.Has |= HasBones
	}
}

// frameParts are those of a frame that is there if one of its values is.
var frameParts = [...]struct {
	has      Has
	first, n int
}{
	{HasStatus, LacksStatus, 1},
	{HasRestart, LacksRestart, 2},
	{HasPause, LacksPause, 3},
	{HasScore, LacksScore, 7},
	{HasThrow, LacksThrow, len(Throw{})},
	{HasRules, LacksRules, 2},
}

// take sets a value to what v is, or says that it is lacking.
func take[T any](to *T, l *Lacks, bit int, v []byte, parse func([]byte) (T, bool)) {
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

func (f *replayFrame) member(key string, v []byte) {
	l := &f.Lacks
	switch key {
	case "match_type", "map_name":
		if s, _ := ParseText(v); strings.HasPrefix(s, "Echo_Combat") || strings.HasPrefix(s, "mpl_combat_") {
			f.Kind = Combat
		} else if s == "mpl_arena_a" && f.Kind == Other {
			f.Kind = Arena
		}
	case "game_status":
		take(&f.Status, l, LacksStatus, v, ParseText)
	case "game_clock":
		take(&f.Clock, l, LacksClock, v, ParseFloat)
	case "blue_round_score":
		take(&f.Rounds[0], l, LacksRounds, v, ParseInt)
	case "orange_round_score":
		take(&f.Rounds[1], l, LacksRounds+1, v, ParseInt)
	case "possession":
		w := jsonenc.Walk(v)
		for i := range w.Elements(len(f.Holder)) {
			take(&f.Holder[i], l, LacksHolder+i, w.Value(), ParseInt)
		}
	case "blue_points":
		take(&f.Points[0], l, LacksPoints, v, ParseFloat)
	case "orange_points":
		take(&f.Points[1], l, LacksPoints+1, v, ParseFloat)
	case "blue_team_restart_request":
		take(&f.Restart[0], l, LacksRestart, v, ParseInt)
	case "orange_team_restart_request":
		take(&f.Restart[1], l, LacksRestart+1, v, ParseInt)
	case "pause":
		f.pause(v)
	case "last_score":
		f.score(v)
	case "last_throw":
		f.throw(v)
	case "disc":
		f.disc(v)
	case "rules_changed_at":
		take(&f.Rules.At, l, LacksRules, v, ParseInt)
	case "rules_changed_by":
		take(&f.Rules.By, l, LacksRules+1, v, ParseText)
	}
}

func (f *replayFrame) pause(v []byte) {
	for key, v := range members(v) {
		switch string(key) {
		case "paused_state":
			take(&f.Pause.State, &f.Lacks, LacksPause, v, ParseText)
		case "unpaused_team":
			take(&f.Pause.UnpausedTeam, &f.Lacks, LacksPause+1, v, ParseText)
		case "paused_requested_team":
			take(&f.Pause.RequestedTeam, &f.Lacks, LacksPause+2, v, ParseText)
		}
	}
}

func (f *replayFrame) score(v []byte) {
	s, l := &f.Score, &f.Lacks
	for key, v := range members(v) {
		switch string(key) {
		case "disc_speed":
			take(&s.DiscSpeed, l, LacksScore, v, ParseFloat)
		case "distance_thrown":
			take(&s.Distance, l, LacksScore+1, v, ParseFloat)
		case "team":
			take(&s.Team, l, LacksScore+2, v, ParseText)
		case "goal_type":
			take(&s.GoalType, l, LacksScore+3, v, ParseText)
		case "point_amount":
			take(&s.Points, l, LacksScore+4, v, ParseInt)
		case "person_scored":
			take(&s.Scorer, l, LacksScore+5, v, ParseText)
		case "assist_scored":
			take(&s.Assist, l, LacksScore+6, v, ParseText)
		}
	}
}

func (f *replayFrame) throw(v []byte) {
	for key, v := range members(v) {
		if i := slices.Index(ThrowKeys[:], string(key)); i >= 0 {
			take(&f.Throw[i], &f.Lacks, LacksThrow+i, v, ParseFloat)
		}
	}
}

func (f *replayFrame) disc(v []byte) {
	w := jsonenc.Walk(v)
	if w.Peek() != '{' {
		return
	}
	f.Has |= HasDisc
	for key := range w.Members() {
		switch string(key) {
		case `"position"`:
			vec(&f.Disc.Position, &f.Lacks, LacksDisc, &w)
		case `"velocity"`:
			vec(&f.Disc.Velocity, &f.Lacks, LacksDisc+3, &w)
		case `"bounce_count"`:
			take(&f.Bounces, &f.Lacks, LacksBounces, w.Value(), ParseInt)
		default:
			w.Value()
		}
	}
}

// team reads the next value. The last list of players that a team has counts. They are in the
// memory of list, where they stay until the next frame is read, or else are copied.
func (r *lineParser) team(t *Team, list *[]Player, w *jsonenc.Walker) {
	for key := range w.Members() {
		if string(key) != `"players"` || w.Peek() != '[' {
			w.Value()
			continue
		}
		players := (*list)[:0]
		for range w.Elements(maxPlayers) {
			players = append(players, Player{Lacks: LacksPlayer})
			p := &players[len(players)-1]
			for key := range w.Members() {
				r.player(p, string(key), w)
			}
		}
		if *list, t.Players = players, players; !r.lean {
			t.Players = append(make([]Player, 0, len(players)), players...)
		}
	}
}

// player reads the value of a key.
func (r *lineParser) player(p *Player, key string, w *jsonenc.Walker) {
	l := &p.Lacks
	switch key {
	case `"name"`:
		take(&p.Name, l, LacksName, w.Value(), ParseText)
	case `"userid"`:
		take(&p.UserID, l, LacksUserID, w.Value(), ParseInt)
	case `"playerid"`:
		take(&p.ID, l, LacksID, w.Value(), ParseInt32)
	case `"number"`:
		take(&p.Number, l, LacksNumber, w.Value(), ParseInt32)
	case `"level"`:
		take(&p.Level, l, LacksLevel, w.Value(), ParseInt32)
	case `"ping"`:
		take(&p.Ping, l, LacksPing, w.Value(), ParseInt32)
	case `"possession"`:
		take(&p.Possession, l, LacksFlags, w.Value(), ParseBool)
	case `"blocking"`:
		take(&p.Blocking, l, LacksFlags+1, w.Value(), ParseBool)
	case `"stunned"`:
		take(&p.Stunned, l, LacksStunned, w.Value(), ParseBool)
	case `"invulnerable"`:
		take(&p.Invulnerable, l, LacksFlags+3, w.Value(), ParseBool)
	case `"holding_left"`:
		p.Holding[0], _ = ParseText(w.Value())
	case `"holding_right"`:
		p.Holding[1], _ = ParseText(w.Value())
	case `"head"`:
		position(&p.Poses[Head].Position, l, LacksPlaces, w)
	case `"velocity"`:
		vec(&p.Velocity, l, LacksPlaces+3, w)
	case `"body"`:
		position(&p.Poses[Body].Position, l, LacksPlaces+6, w)
	case `"lhand"`:
		position(&p.Poses[LeftHand].Position, l, LacksPlaces+9, w)
	case `"rhand"`:
		position(&p.Poses[RightHand].Position, l, LacksPlaces+12, w)
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

func readStats(v []byte) Stats {
	s := Stats{Lacks: LacksStats}
	for key, v := range members(v) {
		if string(key) == "possession_time" {
			take(&s.PossessionTime, &s.Lacks, 0, v, ParseFloat)
		} else if i := slices.Index(StatKeys[:], string(key)); i >= 0 {
			take(&s.Counts[i], &s.Lacks, 1+i, v, ParseInt32)
		}
	}
	return s
}

// position reads the place of a head, body or hand, the next value. Old recordings have bare lists
// for hands.
func position(p *Vec3, l *Lacks, bit int, w *jsonenc.Walker) {
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
func vec(p *Vec3, l *Lacks, bit int, w *jsonenc.Walker) {
	n := 0
	for i := range w.Elements(len(p)) {
		take(&p[i], l, bit+i, w.Value(), ParseFloat)
		n++
	}
	for i := n; i < len(p); i++ {
		p[i] = 0
		l.Set(bit+i, true)
	}
}
