package echo

import (
	"strconv"

	"recfs/formats/internal/jsonenc"
)

// matchObject has the members of a session that are the same in every frame.
var matchObject = newObject(
	known("sessionid", func(m *Match) **string { return &m.SessionID }, ParseText, jsonenc.AppendString[string]),
	known("sessionip", func(m *Match) **string { return &m.SessionIP }, ParseText, jsonenc.AppendString[string]),
	known("match_type", func(m *Match) **string { return &m.MatchType }, ParseText, jsonenc.AppendString[string]),
	known("map_name", func(m *Match) **string { return &m.MapName }, ParseText, jsonenc.AppendString[string]),
	known("client_name", func(m *Match) **string { return &m.ClientName }, ParseText, jsonenc.AppendString[string]),
	known("private_match", func(m *Match) **bool { return &m.Private }, ParseBool, strconv.AppendBool),
	known("total_round_count", func(m *Match) **int64 { return &m.TotalRounds }, ParseInt, jsonenc.AppendInt[int64]),
	known("blue_round_score", func(m *Match) **int64 { return &m.BlueRounds }, ParseInt, jsonenc.AppendInt[int64]),
	known("orange_round_score", func(m *Match) **int64 { return &m.OrangeRounds }, ParseInt, jsonenc.AppendInt[int64]),
)

// sessionObject is the document /session. An [Encoder] writes the members of matchObject itself.
var sessionObject = newObject(
	member[Frame]{key: "disc", shape: &discObject.shape, when: HasDisc | inArena, put: discObject.append, take: takeDisc},
	integer("orange_team_restart_request", LacksRestart+1, func(f *Frame) *int64 { return &f.Restart[1] }).only(inArena),
	member[Frame]{key: "sessionid"},
	written("game_clock_display", putDisplay).only(hasClock),
	text("game_status", LacksStatus, func(f *Frame) *string { return &f.Status }).only(inArena),
	member[Frame]{key: "sessionip"},
	member[Frame]{key: "match_type", take: takeKind},
	member[Frame]{key: "map_name", take: takeKind},
	shoulder("right_shoulder_pressed2", 3),
	member[Frame]{key: "teams", shape: &teamObject.shape, put: putTeams, take: takeTeams},
	integer("blue_round_score", LacksRounds, func(f *Frame) *int64 { return &f.Rounds[0] }),
	points("orange_points", 1),
	member[Frame]{key: "player", shape: newShape("vr_left", "vr_position", "vr_forward", "vr_up"), put: putVR},
	member[Frame]{key: "private_match"},
	integer("blue_team_restart_request", LacksRestart, func(f *Frame) *int64 { return &f.Restart[0] }).only(inArena),
	written("tournament_match", func(b []byte, _ *Frame, _ frameContext) []byte { return append(b, "false"...) }),
	integer("orange_round_score", LacksRounds+1, func(f *Frame) *int64 { return &f.Rounds[1] }),
	text("rules_changed_by", LacksRules+1, func(f *Frame) *string { return &f.Rules.By }).only(inArena),
	member[Frame]{key: "total_round_count"},
	shoulder("left_shoulder_pressed2", 2),
	shoulder("left_shoulder_pressed", 0),
	within("pause", pauseObject),
	shoulder("right_shoulder_pressed", 1),
	points("blue_points", 0),
	untabled("last_throw", throwObject).only(HasThrow),
	member[Frame]{key: "client_name"},
	written("contested", func(b []byte, f *Frame, _ frameContext) []byte { return strconv.AppendBool(b, f.Payload.Contested) }).only(inCombat),
	written("payload_checkpoint", func(b []byte, f *Frame, _ frameContext) []byte { return jsonenc.AppendInt(b, f.Payload.Checkpoint) }).only(inCombat),
	written("payload_defenders", func(b []byte, f *Frame, _ frameContext) []byte { return jsonenc.AppendInt(b, f.Payload.Defenders) }).only(inCombat),
	written("payload_distance", func(b []byte, f *Frame, _ frameContext) []byte { return appendFloat(b, f.Payload.Distance) }).only(inCombat),
	written("payload_speed", func(b []byte, f *Frame, _ frameContext) []byte { return appendFloat(b, f.Payload.Speed) }).only(inCombat),
	number("game_clock", LacksClock, func(f *Frame) *float32 { return &f.Clock }).only(hasClock),
	member[Frame]{key: "possession", when: inArena, put: putHolder, take: takeHolder},
	untabled("last_score", scoreObject).only(HasScore|inArena),
	rulesAt(),
	written("err_code", func(b []byte, _ *Frame, _ frameContext) []byte { return append(b, '0') }),
)

var discObject = newObject(
	placed("position", LacksDisc, func(f *Frame) *Pose { return &f.Disc.Pose }),
	member[Frame]{key: "forward"}, member[Frame]{key: "left"}, member[Frame]{key: "up"},
	vector("velocity", LacksDisc+3, func(f *Frame) *Vec3 { return &f.Disc.Velocity }),
	integer("bounce_count", LacksBounces, func(f *Frame) *int64 { return &f.Bounces }),
)

var pauseObject = newObject(
	text("paused_state", LacksPause, func(f *Frame) *string { return &f.Pause.State }),
	text("unpaused_team", LacksPause+1, func(f *Frame) *string { return &f.Pause.UnpausedTeam }),
	text("paused_requested_team", LacksPause+2, func(f *Frame) *string { return &f.Pause.RequestedTeam }),
	written("unpaused_timer", func(b []byte, f *Frame, _ frameContext) []byte { return appendFloat(b, f.Pause.UnpausedTimer) }),
	written("paused_timer", func(b []byte, f *Frame, _ frameContext) []byte { return appendFloat(b, f.Pause.PausedTimer) }),
)

var scoreObject = newObject(
	number("disc_speed", LacksScore, func(f *Frame) *float32 { return &f.Score.DiscSpeed }),
	text("team", LacksScore+2, func(f *Frame) *string { return &f.Score.Team }),
	text("goal_type", LacksScore+3, func(f *Frame) *string { return &f.Score.GoalType }),
	integer("point_amount", LacksScore+4, func(f *Frame) *int64 { return &f.Score.Points }),
	number("distance_thrown", LacksScore+1, func(f *Frame) *float32 { return &f.Score.Distance }),
	text("person_scored", LacksScore+5, func(f *Frame) *string { return &f.Score.Scorer }),
	text("assist_scored", LacksScore+6, func(f *Frame) *string { return &f.Score.Assist }),
)

var throwObject = func() *object[Frame] {
	var list []member[Frame]
	for i, key := range ThrowKeys {
		list = append(list, number(key, LacksThrow+i, func(f *Frame) *float32 { return &f.Throw[i] }))
	}
	return newObject(list...)
}()

var teamObject = newObject(
	member[Team]{key: "players", shape: &playerObject.shape, put: putPlayers, take: takePlayers},
	written("team", func(b []byte, _ *Team, w frameContext) []byte { return append(b, teamTitles[w.team]...) }),
	written("possession", func(b []byte, t *Team, _ frameContext) []byte { return strconv.AppendBool(b, t.Possession) }).only(inArena),
	member[Team]{key: "stats", shape: &statsObject.shape, when: inArena, put: putTeamStats},
)

var playerObject = newObject(
	text("name", LacksName, func(p *Player) *string { return &p.Name }),
	pose("rhand", handShape, RightHand, LacksPlaces+12),
	small("playerid", LacksID, func(p *Player) *int32 { return &p.ID }),
	member[Player]{key: "stats", shape: &statsObject.shape, when: inArena, put: putStats, take: takeStats},
	integer("userid", LacksUserID, func(p *Player) *int64 { return &p.UserID }),
	written("is_emote_playing", func(b []byte, p *Player, _ frameContext) []byte { return strconv.AppendBool(b, p.Emote) }).only(hasEmotes),
	small("number", LacksNumber, func(p *Player) *int32 { return &p.Number }),
	small("level", LacksLevel, func(p *Player) *int32 { return &p.Level }),
	small("ping", LacksPing, func(p *Player) *int32 { return &p.Ping }),
	written("packetlossratio", func(b []byte, p *Player, _ frameContext) []byte { return appendFloat(b, p.Loss) }),
	flag("stunned", LacksStunned, func(p *Player) *bool { return &p.Stunned }),
	flag("invulnerable", LacksFlags+3, func(p *Player) *bool { return &p.Invulnerable }),
	flag("possession", LacksFlags, func(p *Player) *bool { return &p.Possession }),
	flag("blocking", LacksFlags+1, func(p *Player) *bool { return &p.Blocking }),
	holding("holding_left", 0),
	pose("head", headShape, Head, LacksPlaces),
	pose("body", headShape, Body, LacksPlaces+6),
	holding("holding_right", 1),
	pose("lhand", handShape, LeftHand, LacksPlaces+9),
	vector("velocity", LacksPlaces+3, func(p *Player) *Vec3 { return &p.Velocity }),
	carried("Weapon", func(l *Loadout) string { return l.Weapon }),
	carried("Ordnance", func(l *Loadout) string { return l.Ordnance }),
	carried("TacMod", func(l *Loadout) string { return l.TacMod }),
	carried("Arm", func(l *Loadout) string { return l.Arm }),
)

var statsObject = func() *object[Stats] {
	list := []member[Stats]{number("possession_time", 0, func(s *Stats) *float32 { return &s.PossessionTime })}
	for i, key := range StatKeys {
		list = append(list, small(key, 1+i, func(s *Stats) *int32 { return &s.Counts[i] }))
	}
	return newObject(list...)
}()

// bonesShape is the document /player_bones.
var bonesShape = &shape{keys: []string{"user_bones", "err_code"}, inner: []*shape{newShape("bone_t", "bone_o"), nil}}
