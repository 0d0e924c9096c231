package echoreplay

import (
	"encoding/json"
	"strconv"
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
	f.Kind = echovr.Other
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
	if f.Kind == echovr.Combat {
		f.Has &^= echovr.HasStatus | echovr.HasRestart | echovr.HasRules | echovr.HasScore
	}
	if !r.lean && hasBones(f.bones) {
		f.Has |= echovr.HasBones
	}
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
	switch key {
	case "match_type", "map_name":
		if s := str(v); strings.HasPrefix(s, "Echo_Combat") || strings.HasPrefix(s, "mpl_combat_") {
			f.Kind = echovr.Combat
		} else if s == "mpl_arena_a" && f.Kind == echovr.Other {
			f.Kind = echovr.Arena
		}
	case "game_status":
		f.Status = str(v)
		f.Has |= echovr.HasStatus
	case "game_clock":
		f.Clock = float(v)
	case "blue_points":
		f.Points[0] = float(v)
	case "orange_points":
		f.Points[1] = float(v)
	case "blue_team_restart_request":
		f.Restart[0] = truth(v)
		f.Has |= echovr.HasRestart
	case "orange_team_restart_request":
		f.Restart[1] = truth(v)
		f.Has |= echovr.HasRestart
	case "pause":
		f.pause(v)
	case "last_score":
		f.score(v)
	case "last_throw":
		f.throw(v)
	case "disc":
		f.disc(v)
	case "rules_changed_by":
		f.Rules.By = str(v)
		f.Has |= echovr.HasRules
	case "rules_changed_at":
		f.Rules.At = integer(v)
		f.Has |= echovr.HasRules
	}
}

func (f *frame) pause(v []byte) {
	for key, v := range members(v) {
		switch string(key) {
		case "paused_state":
			f.Pause.State = str(v)
		case "unpaused_team":
			f.Pause.UnpausedTeam = str(v)
		case "paused_requested_team":
			f.Pause.RequestedTeam = str(v)
		}
		f.Has |= echovr.HasPause
	}
}

func (f *frame) score(v []byte) {
	s := &f.Score
	for key, v := range members(v) {
		switch string(key) {
		case "disc_speed":
			s.DiscSpeed = float(v)
		case "distance_thrown":
			s.Distance = float(v)
		case "team":
			s.Team = str(v)
		case "goal_type":
			s.GoalType = str(v)
		case "point_amount":
			s.Points = int(integer(v))
		case "person_scored":
			s.Scorer = str(v)
		case "assist_scored":
			s.Assist = str(v)
		}
		f.Has |= echovr.HasScore
	}
}

func (f *frame) throw(v []byte) {
	for key, v := range members(v) {
		for i, name := range echovr.ThrowKeys {
			if string(key) == name {
				f.Throw[i] = float(v)
			}
		}
		f.Has |= echovr.HasThrow
	}
}

func (f *frame) disc(v []byte) {
	for key, v := range members(v) {
		switch w := jsonenc.Walk(v); string(key) {
		case "position":
			f.Disc.Position = vec(&w)
		case "velocity":
			f.Disc.Velocity = vec(&w)
		}
		f.Has |= echovr.HasDisc
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
			players = append(players, echovr.Player{})
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
	switch key {
	case `"name"`:
		p.Name = str(w.Value())
	case `"userid"`:
		p.UserID = integer(w.Value())
	case `"playerid"`:
		p.ID = int(integer(w.Value()))
	case `"number"`:
		p.Number = int32(integer(w.Value()))
	case `"level"`:
		p.Level = int32(integer(w.Value()))
	case `"ping"`:
		p.Ping = int32(integer(w.Value()))
	case `"stunned"`:
		p.Stunned = truth(w.Value())
	case `"invulnerable"`:
		p.Invulnerable = truth(w.Value())
	case `"possession"`:
		p.Possession = truth(w.Value())
	case `"blocking"`:
		p.Blocking = truth(w.Value())
	case `"holding_left"`:
		p.Holding[0] = str(w.Value())
	case `"holding_right"`:
		p.Holding[1] = str(w.Value())
	case `"velocity"`:
		p.Velocity = vec(w)
	case `"head"`:
		p.Poses[echovr.Head].Position = position(w)
	case `"body"`:
		p.Poses[echovr.Body].Position = position(w)
	case `"lhand"`:
		p.Poses[echovr.LeftHand].Position = position(w)
	case `"rhand"`:
		p.Poses[echovr.RightHand].Position = position(w)
	case `"stats"`:
		p.HasStats = true
		if r.lean {
			w.Value()
		} else {
			readStats(&p.Stats, w.Value())
		}
	default:
		w.Value()
	}
}

func readStats(s *echovr.Stats, v []byte) {
	for key, v := range members(v) {
		if string(key) == "possession_time" {
			s.PossessionTime = float(v)
		}
		for i, name := range echovr.StatKeys {
			if string(key) == name {
				s.Counts[i] = int32(integer(v))
			}
		}
	}
}

// position returns the place of a head, body or hand, the next value. Old recordings have bare lists for hands.
func position(w *jsonenc.Walker) (p echovr.Vec3) {
	if w.Peek() == '[' {
		return vec(w)
	}
	for key := range w.Members() {
		if string(key) == `"position"` || string(key) == `"pos"` {
			p = vec(w)
			w.Leave()
			break
		}
		w.Value()
	}
	return p
}

// vec returns the next value.
func vec(w *jsonenc.Walker) (p echovr.Vec3) {
	for i := range w.Elements(len(p)) {
		p[i] = float(w.Value())
	}
	return p
}

// float returns a number, or one of the strings that stand for what JSON has no number for.
func float(v []byte) float32 {
	switch string(v) {
	case `"NaN"`, `"Infinity"`, `"-Infinity"`:
		v = v[1 : len(v)-1]
	}
	x, err := strconv.ParseFloat(string(v), 32)
	if err != nil {
		return 0
	}
	return float32(x)
}

// integer returns a number that should have no fraction.
func integer(v []byte) int64 {
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return n
	}
	if x := float(v); -1<<63 <= x && x < 1<<63 {
		return int64(x)
	}
	return 0
}

// truth returns a boolean, which some recorders wrote as a number or a number as a boolean.
func truth(v []byte) bool {
	return string(v) == "true" || float(v) != 0
}

func str(v []byte) string {
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	if s := echovr.ValidString(v[1 : len(v)-1]); !strings.Contains(s, `\`) {
		return s
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}
