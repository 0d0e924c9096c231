package echoreplay

import (
	"encoding/json"
	"strconv"
	"strings"

	"recfs/formats/internal/echovr"
)

// maxPlayers bounds the players of a team that events and tables know, as in butter. A match has at
// most 15.
const maxPlayers = 255

// read takes from the session what events, scores and tables are made of.
func (f *frame) read() {
	f.Kind = echovr.Other
	for _, m := range members(nil, f.session) {
		f.member(string(m.key), m.value)
	}
	if f.Kind == echovr.Combat {
		f.Has &^= echovr.HasStatus | echovr.HasRestart | echovr.HasRules | echovr.HasScore
	}
	for _, m := range objectMembers(f.bones) {
		if string(m.key) == "user_bones" && m.value[0] == '[' && len(elements(nil, m.value)) > 0 {
			f.Has |= echovr.HasBones
		}
	}
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
	case "teams":
		if v[0] == '[' {
			list := elements(nil, v)
			for i := range f.Teams[:min(len(list), len(f.Teams))] {
				readTeam(&f.Teams[i], list[i])
			}
		}
	}
}

func (f *frame) pause(v []byte) {
	for _, m := range objectMembers(v) {
		switch string(m.key) {
		case "paused_state":
			f.Pause.State = str(m.value)
		case "unpaused_team":
			f.Pause.UnpausedTeam = str(m.value)
		case "paused_requested_team":
			f.Pause.RequestedTeam = str(m.value)
		}
		f.Has |= echovr.HasPause
	}
}

func (f *frame) score(v []byte) {
	s := &f.Score
	for _, m := range objectMembers(v) {
		switch string(m.key) {
		case "disc_speed":
			s.DiscSpeed = float(m.value)
		case "distance_thrown":
			s.Distance = float(m.value)
		case "team":
			s.Team = str(m.value)
		case "goal_type":
			s.GoalType = str(m.value)
		case "point_amount":
			s.Points = int(integer(m.value))
		case "person_scored":
			s.Scorer = str(m.value)
		case "assist_scored":
			s.Assist = str(m.value)
		}
		f.Has |= echovr.HasScore
	}
}

func (f *frame) throw(v []byte) {
	for _, m := range objectMembers(v) {
		for i, key := range echovr.ThrowKeys {
			if string(m.key) == key {
				f.Throw[i] = float(m.value)
			}
		}
		f.Has |= echovr.HasThrow
	}
}

func (f *frame) disc(v []byte) {
	for _, m := range objectMembers(v) {
		switch string(m.key) {
		case "position":
			f.Disc.Position = vec(m.value)
		case "velocity":
			f.Disc.Velocity = vec(m.value)
		}
		f.Has |= echovr.HasDisc
	}
}

func readTeam(t *echovr.Team, v []byte) {
	for _, m := range objectMembers(v) {
		if string(m.key) != "players" || m.value[0] != '[' {
			continue
		}
		list := elements(nil, m.value)
		t.Players = make([]echovr.Player, min(len(list), maxPlayers))
		for i := range t.Players {
			for _, m := range objectMembers(list[i]) {
				readPlayer(&t.Players[i], string(m.key), m.value)
			}
		}
	}
}

func readPlayer(p *echovr.Player, key string, v []byte) {
	switch key {
	case "name":
		p.Name = str(v)
	case "userid":
		p.UserID = integer(v)
	case "playerid":
		p.ID = int(integer(v))
	case "number":
		p.Number = int32(integer(v))
	case "level":
		p.Level = int32(integer(v))
	case "ping":
		p.Ping = int32(integer(v))
	case "stunned":
		p.Stunned = truth(v)
	case "invulnerable":
		p.Invulnerable = truth(v)
	case "possession":
		p.Possession = truth(v)
	case "blocking":
		p.Blocking = truth(v)
	case "holding_left":
		p.Holding[0] = str(v)
	case "holding_right":
		p.Holding[1] = str(v)
	case "velocity":
		p.Velocity = vec(v)
	case "head":
		p.Poses[echovr.Head].Position = position(v)
	case "body":
		p.Poses[echovr.Body].Position = position(v)
	case "lhand":
		p.Poses[echovr.LeftHand].Position = position(v)
	case "rhand":
		p.Poses[echovr.RightHand].Position = position(v)
	case "stats":
		p.HasStats = true
		readStats(&p.Stats, v)
	}
}

func readStats(s *echovr.Stats, v []byte) {
	for _, m := range objectMembers(v) {
		if string(m.key) == "possession_time" {
			s.PossessionTime = float(m.value)
		}
		for i, key := range echovr.StatKeys {
			if string(m.key) == key {
				s.Counts[i] = int32(integer(m.value))
			}
		}
	}
}

// position returns the place of a head, body or hand. Old recordings have bare lists for hands.
func position(v []byte) echovr.Vec3 {
	if v[0] == '[' {
		return vec(v)
	}
	for _, m := range objectMembers(v) {
		if key := string(m.key); key == "position" || key == "pos" {
			return vec(m.value)
		}
	}
	return echovr.Vec3{}
}

// objectMembers returns the members of a value, none if it is not an object.
func objectMembers(v []byte) []member {
	if len(v) == 0 || v[0] != '{' {
		return nil
	}
	return members(make([]member, 0, 16), v)
}

func vec(v []byte) (p echovr.Vec3) {
	if v[0] != '[' {
		return p
	}
	for i, x := range elements(make([][]byte, 0, 3), v) {
		if i < len(p) {
			p[i] = float(x)
		}
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
	if s := string(v[1 : len(v)-1]); !strings.Contains(s, `\`) {
		return s
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}
