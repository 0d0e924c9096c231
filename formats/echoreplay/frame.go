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
	for key, v := range members(f.session) {
		f.member(string(key), v)
	}
	if f.Kind == echovr.Combat {
		f.Has &^= echovr.HasStatus | echovr.HasRestart | echovr.HasRules | echovr.HasScore
	}
	for key, v := range members(f.bones) {
		if string(key) == "user_bones" && len(first(v, 1)) > 0 {
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
		for i, team := range first(v, len(f.Teams)) {
			readTeam(&f.Teams[i], team)
		}
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
		switch string(key) {
		case "position":
			f.Disc.Position = vec(v)
		case "velocity":
			f.Disc.Velocity = vec(v)
		}
		f.Has |= echovr.HasDisc
	}
}

func readTeam(t *echovr.Team, v []byte) {
	for key, list := range members(v) {
		if string(key) != "players" || list[0] != '[' {
			continue
		}
		players := first(list, maxPlayers)
		t.Players = make([]echovr.Player, len(players))
		for i := range t.Players {
			for key, v := range members(players[i]) {
				readPlayer(&t.Players[i], string(key), v)
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

// position returns the place of a head, body or hand. Old recordings have bare lists for hands.
func position(v []byte) echovr.Vec3 {
	if v[0] == '[' {
		return vec(v)
	}
	for key, v := range members(v) {
		if key := string(key); key == "position" || key == "pos" {
			return vec(v)
		}
	}
	return echovr.Vec3{}
}

func vec(v []byte) (p echovr.Vec3) {
	for i, x := range first(v, len(p)) {
		p[i] = float(x)
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
