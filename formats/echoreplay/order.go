package echoreplay

import (
	"bytes"

	"recfs/formats/internal/jsonenc"
)

// A shape is the order in which the members of an object are shown, and the shapes of those that
// are objects or lists of objects.
type shape struct {
	keys  []string
	inner map[string]*shape
}

var (
	statsShape = &shape{keys: []string{
		"possession_time", "points", "saves", "goals", "stuns", "passes", "catches", "steals", "blocks", "interceptions",
		"assists", "shots_taken",
	}}
	headShape   = &shape{keys: []string{"position", "forward", "left", "up"}}
	handShape   = &shape{keys: []string{"pos", "forward", "left", "up"}}
	playerShape = &shape{
		keys: []string{
			"name", "rhand", "playerid", "stats", "userid", "is_emote_playing", "number", "level", "ping", "packetlossratio",
			"stunned", "invulnerable", "possession", "blocking", "holding_left", "head", "body", "holding_right", "lhand",
			"velocity", "Weapon", "Ordnance", "TacMod", "Arm",
		},
		inner: map[string]*shape{
			"rhand": handShape, "lhand": handShape, "head": headShape, "body": headShape, "stats": statsShape,
		},
	}
	teamShape = &shape{
		keys:  []string{"players", "team", "possession", "stats"},
		inner: map[string]*shape{"players": playerShape, "stats": statsShape},
	}
	sessionShape = &shape{
		keys: []string{
			"disc", "orange_team_restart_request", "sessionid", "game_clock_display", "game_status", "sessionip", "match_type",
			"map_name", "right_shoulder_pressed2", "teams", "blue_round_score", "orange_points", "player", "private_match",
			"blue_team_restart_request", "tournament_match", "orange_round_score", "rules_changed_by", "total_round_count",
			"left_shoulder_pressed2", "left_shoulder_pressed", "pause", "right_shoulder_pressed", "blue_points", "last_throw",
			"client_name", "contested", "payload_checkpoint", "payload_defenders", "payload_distance", "payload_speed",
			"game_clock", "possession", "last_score", "rules_changed_at", "err_code",
		},
		inner: map[string]*shape{
			"disc":   {keys: []string{"position", "forward", "left", "up", "velocity", "bounce_count"}},
			"teams":  teamShape,
			"player": {keys: []string{"vr_left", "vr_position", "vr_forward", "vr_up"}},
			"pause":  {keys: []string{"paused_state", "unpaused_team", "paused_requested_team", "unpaused_timer", "paused_timer"}},
			"last_throw": {keys: []string{
				"arm_speed", "total_speed", "off_axis_spin_deg", "wrist_throw_penalty", "rot_per_sec", "pot_speed_from_rot",
				"speed_from_arm", "speed_from_movement", "speed_from_wrist", "wrist_align_to_throw_deg",
				"throw_align_to_movement_deg", "off_axis_penalty", "throw_move_penalty",
			}},
			"last_score": {keys: []string{
				"disc_speed", "team", "goal_type", "point_amount", "distance_thrown", "person_scored", "assist_scored",
			}},
		},
	}
	bonesShape = &shape{
		keys:  []string{"user_bones", "err_code"},
		inner: map[string]*shape{"user_bones": {keys: []string{"bone_t", "bone_o"}}},
	}
)

// A member is a member of an object as it is written.
type member struct{ key, value []byte } // key without quotes

// appendOrdered appends a valid JSON value without space between its tokens and with the members of
// objects in the order of s.
func appendOrdered(dst, value []byte, s *shape) []byte {
	value = bytes.TrimLeft(value, spaces)
	switch {
	case s == nil || value[0] != '{' && value[0] != '[':
		return jsonenc.AppendCompact(dst, value)
	case value[0] == '[':
		dst = append(dst, '[')
		for i, v := range elements(nil, value) {
			if i > 0 {
				dst = append(dst, ',')
			}
			if v[0] == '[' {
				dst = jsonenc.AppendCompact(dst, v)
			} else {
				dst = appendOrdered(dst, v, s)
			}
		}
		return append(dst, ']')
	}
	list := members(make([]member, 0, len(s.keys)+8), value)
	dst = append(dst, '{')
	start := len(dst)
	put := func(m *member) {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = append(dst, m.key...)
		dst = append(dst, '"', ':')
		dst = appendOrdered(dst, m.value, s.inner[string(m.key)])
		m.value = nil
	}
	for _, key := range s.keys {
		if m := find(list, key); m != nil {
			put(m)
		}
	}
	for i := range list {
		if list[i].value != nil {
			put(&list[i])
		}
	}
	return append(dst, '}')
}

func find(list []member, key string) *member {
	for i := range list {
		if string(list[i].key) == key && list[i].value != nil {
			return &list[i]
		}
	}
	return nil
}

const spaces = " \t\r\n" // of JSON

// members appends the members of a valid JSON object.
func members(list []member, object []byte) []member {
	w := jsonenc.Walk(object)
	for w.Enter(); w.More(); {
		key := w.Value()
		list = append(list, member{key[1 : len(key)-1], w.Value()})
	}
	return list
}

// elements appends the elements of a valid JSON list.
func elements(list [][]byte, array []byte) [][]byte {
	w := jsonenc.Walk(array)
	for w.Enter(); w.More(); {
		list = append(list, w.Value())
	}
	return list
}
