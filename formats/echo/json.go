package echo

import (
	"strconv"

	"recfs/formats/internal/jsonenc"
)

// An Encoder appends the frames of one recording as JSON, in the keys and their order of the game's
// API.
type Encoder struct {
	emotes bool

	// The parts between two values that change, with those that do not.
	session, match, blueRound, private, tournament, rounds, client string
}

// NewEncoder returns an Encoder for the frames of m.
func NewEncoder(m *Match) *Encoder {
	str := func(key string, s *string) string { return `,"` + key + `":` + string(jsonenc.AppendString(nil, *s)) }
	return &Encoder{
		emotes:     m.Emotes,
		session:    str("sessionid", m.SessionID)[1:],
		match:      str("sessionip", m.SessionIP) + str("match_type", m.MatchType) + str("map_name", m.MapName),
		blueRound:  `,"blue_round_score":` + strconv.FormatInt(*m.BlueRounds, 10),
		private:    `,"private_match":` + strconv.FormatBool(*m.Private),
		tournament: `,"tournament_match":false,"orange_round_score":` + strconv.FormatInt(*m.OrangeRounds, 10),
		rounds:     `,"total_round_count":` + strconv.FormatInt(*m.TotalRounds, 10),
		client:     str("client_name", m.ClientName),
	}
}

// Session appends the document /session of a frame.
func (e *Encoder) Session(b []byte, f *Frame) []byte {
	combat := f.Kind == Combat
	clock := !combat || f.Clock != 0
	b = append(b, '{')
	if !combat {
		if f.Has&HasDisc != 0 {
			b = appendDisc(b, &f.Disc)
			b = append(b, ',')
		}
		b = append(b, `"orange_team_restart_request":`...)
		b = appendInt(b, false, f.Restart[1])
		b = append(b, ',')
	}
	b = append(b, e.session...)
	if clock {
		b = append(b, `,"game_clock_display":"`...)
		b = Display(b, f.Clock)
		b = append(b, '"')
	}
	if !combat {
		b = append(b, `,"game_status":`...)
		b = jsonenc.AppendString(b, f.Status)
	}
	b = append(b, e.match...)
	b = appendShoulder(b, `,"right_shoulder_pressed2":`, f.Shoulders[3])
	b = e.teams(b, f)
	b = append(b, e.blueRound...)
	b = append(b, `,"orange_points":`...)
	b = appendPoints(b, f, 1)
	b = appendVR(b, &f.VR)
	b = append(b, e.private...)
	if !combat {
		b = append(b, `,"blue_team_restart_request":`...)
		b = appendInt(b, false, f.Restart[0])
	}
	b = append(b, e.tournament...)
	if !combat {
		b = append(b, `,"rules_changed_by":`...)
		b = jsonenc.AppendString(b, f.Rules.By)
	}
	b = append(b, e.rounds...)
	b = appendShoulder(b, `,"left_shoulder_pressed2":`, f.Shoulders[2])
	b = appendShoulder(b, `,"left_shoulder_pressed":`, f.Shoulders[0])
	b = appendPause(b, &f.Pause)
	b = appendShoulder(b, `,"right_shoulder_pressed":`, f.Shoulders[1])
	b = append(b, `,"blue_points":`...)
	b = appendPoints(b, f, 0)
	if f.Has&HasThrow != 0 {
		b = append(b, `,"last_throw":{`...)
		b = appendThrow(b, f)
		b = append(b, '}')
	}
	b = append(b, e.client...)
	if combat {
		b = appendPayload(b, &f.Payload)
	}
	if clock {
		b = append(b, `,"game_clock":`...)
		b = appendFloat(b, false, f.Clock)
	}
	if !combat {
		b = appendPossession(b, f)
		if f.Has&HasScore != 0 {
			b = appendScore(b, &f.Score)
		}
		b = append(b, `,"rules_changed_at":`...)
		b = strconv.AppendInt(b, f.Rules.At, 10)
	}
	return append(b, `,"err_code":0}`...)
}

func (e *Encoder) teams(b []byte, f *Frame) []byte {
	combat := f.Kind == Combat
	b = append(b, `,"teams":[{`...)
	for i := range f.Teams {
		t := &f.Teams[i]
		if i > 0 {
			b = append(b, `,{`...)
		}
		if len(t.Players) > 0 {
			b = append(b, `"players":[`...)
			for j := range t.Players {
				if j > 0 {
					b = append(b, ',')
				}
				b = e.player(b, &t.Players[j], combat)
			}
			b = append(b, `],`...)
		}
		b = append(b, teamTitles[i]...)
		if !combat {
			b = append(b, `,"possession":`...)
			b = strconv.AppendBool(b, t.Possession)
			if i < 2 && len(t.Players) > 0 {
				b = append(b, ',')
				b = appendStats(b, &t.Stats)
			}
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

var teamTitles = [3]string{`"team":"BLUE TEAM"`, `"team":"ORANGE TEAM"`, `"team":"SPECTATORS"`}

func (e *Encoder) player(b []byte, p *Player, combat bool) []byte {
	b = append(b, `{"name":`...)
	b = jsonenc.AppendString(b, p.Name)
	b = appendPose(b, `,"rhand":{"pos":`, &p.Poses[RightHand])
	b = append(b, `,"playerid":`...)
	b = strconv.AppendInt(b, int64(p.ID), 10)
	if p.HasStats && !combat {
		b = append(b, ',')
		b = appendStats(b, &p.Stats)
	}
	b = append(b, `,"userid":`...)
	b = strconv.AppendInt(b, p.UserID, 10)
	if e.emotes {
		b = append(b, `,"is_emote_playing":`...)
		b = strconv.AppendBool(b, p.Emote)
	}
	b = append(b, `,"number":`...)
	b = strconv.AppendInt(b, int64(p.Number), 10)
	b = append(b, `,"level":`...)
	b = strconv.AppendInt(b, int64(p.Level), 10)
	b = append(b, `,"ping":`...)
	b = strconv.AppendInt(b, int64(p.Ping), 10)
	b = append(b, `,"packetlossratio":`...)
	b = appendFloat(b, false, p.Loss)
	if !combat {
		b = append(b, `,"stunned":`...)
		b = strconv.AppendBool(b, p.Stunned)
		b = append(b, `,"invulnerable":`...)
		b = strconv.AppendBool(b, p.Invulnerable)
		b = append(b, `,"possession":`...)
		b = strconv.AppendBool(b, p.Possession)
		b = append(b, `,"blocking":`...)
		b = strconv.AppendBool(b, p.Blocking)
	}
	if p.Holding[0] != "" {
		b = append(b, `,"holding_left":`...)
		b = jsonenc.AppendString(b, p.Holding[0])
	}
	b = appendPose(b, `,"head":{"position":`, &p.Poses[Head])
	b = appendPose(b, `,"body":{"position":`, &p.Poses[Body])
	if p.Holding[1] != "" {
		b = append(b, `,"holding_right":`...)
		b = jsonenc.AppendString(b, p.Holding[1])
	}
	b = appendPose(b, `,"lhand":{"pos":`, &p.Poses[LeftHand])
	b = append(b, `,"velocity":`...)
	b = appendFloats(b, p.Velocity[:])
	if p.Loadout != nil && combat {
		b = append(b, `,"Weapon":"`...)
		b = append(b, p.Loadout.Weapon...)
		b = append(b, `","Ordnance":"`...)
		b = append(b, p.Loadout.Ordnance...)
		b = append(b, `","TacMod":"`...)
		b = append(b, p.Loadout.TacMod...)
		b = append(b, `","Arm":"`...)
		b = append(b, p.Loadout.Arm...)
		b = append(b, '"')
	}
	return append(b, '}')
}

func appendStats(b []byte, s *Stats) []byte {
	b = append(b, `"stats":{"possession_time":`...)
	b = appendFloat(b, s.Lacks.At(0), s.PossessionTime)
	for i, n := range s.Counts {
		b = append(b, ',', '"')
		b = append(b, StatKeys[i]...)
		b = append(b, '"', ':')
		b = appendInt(b, s.Lacks.At(1+i), int64(n))
	}
	return append(b, '}')
}

// appendPose appends an object that begins with a position.
func appendPose(b []byte, start string, p *Pose) []byte {
	forward, left, up := p.Rotation.Vectors()
	b = append(b, start...)
	b = appendFloats(b, p.Position[:])
	b = append(b, `,"forward":`...)
	b = appendFloats(b, forward[:])
	b = append(b, `,"left":`...)
	b = appendFloats(b, left[:])
	b = append(b, `,"up":`...)
	b = appendFloats(b, up[:])
	return append(b, '}')
}

func appendDisc(b []byte, d *Disc) []byte {
	b = appendPose(b, `"disc":{"position":`, &d.Pose)
	b = append(b[:len(b)-1], `,"velocity":`...)
	b = appendFloats(b, d.Velocity[:])
	return append(b, `,"bounce_count":0}`...)
}

func appendVR(b []byte, p *Pose) []byte {
	forward, left, up := p.Rotation.Vectors()
	b = append(b, `,"player":{"vr_left":`...)
	b = appendFloats(b, left[:])
	b = append(b, `,"vr_position":`...)
	b = appendFloats(b, p.Position[:])
	b = append(b, `,"vr_forward":`...)
	b = appendFloats(b, forward[:])
	b = append(b, `,"vr_up":`...)
	b = appendFloats(b, up[:])
	return append(b, '}')
}

func appendPause(b []byte, p *Pause) []byte {
	b = append(b, `,"pause":{"paused_state":`...)
	b = jsonenc.AppendString(b, p.State)
	b = append(b, `,"unpaused_team":`...)
	b = jsonenc.AppendString(b, p.UnpausedTeam)
	b = append(b, `,"paused_requested_team":`...)
	b = jsonenc.AppendString(b, p.RequestedTeam)
	b = append(b, `,"unpaused_timer":`...)
	b = appendFloat(b, false, p.UnpausedTimer)
	b = append(b, `,"paused_timer":`...)
	b = appendFloat(b, false, p.PausedTimer)
	return append(b, '}')
}

// appendThrow appends the members of last_throw without braces.
func appendThrow(b []byte, f *Frame) []byte {
	for i, x := range f.Throw {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, ThrowKeys[i]...)
		b = append(b, '"', ':')
		b = appendFloat(b, f.Lacks.At(LacksThrow+i), x)
	}
	return b
}

func appendPayload(b []byte, p *Payload) []byte {
	b = append(b, `,"contested":`...)
	b = strconv.AppendBool(b, p.Contested)
	b = append(b, `,"payload_checkpoint":`...)
	b = strconv.AppendInt(b, int64(p.Checkpoint), 10)
	b = append(b, `,"payload_defenders":`...)
	b = strconv.AppendInt(b, int64(p.Defenders), 10)
	b = append(b, `,"payload_distance":`...)
	b = appendFloat(b, false, p.Distance)
	b = append(b, `,"payload_speed":`...)
	return appendFloat(b, false, p.Speed)
}

func appendScore(b []byte, s *Score) []byte {
	b = append(b, `,"last_score":{"disc_speed":`...)
	b = appendFloat(b, false, s.DiscSpeed)
	b = append(b, `,"team":`...)
	b = jsonenc.AppendString(b, s.Team)
	b = append(b, `,"goal_type":`...)
	b = jsonenc.AppendString(b, s.GoalType)
	b = append(b, `,"point_amount":`...)
	b = strconv.AppendInt(b, s.Points, 10)
	b = append(b, `,"distance_thrown":`...)
	b = appendFloat(b, false, s.Distance)
	b = append(b, `,"person_scored":`...)
	b = jsonenc.AppendString(b, s.Scorer)
	b = append(b, `,"assist_scored":`...)
	b = jsonenc.AppendString(b, s.Assist)
	return append(b, '}')
}

// appendPossession appends who has the disc.
func appendPossession(b []byte, f *Frame) []byte {
	holder := f.possession()
	b = append(b, `,"possession":[`...)
	b = strconv.AppendInt(b, holder[0], 10)
	b = append(b, ',')
	b = strconv.AppendInt(b, holder[1], 10)
	return append(b, ']')
}

// AppendBones appends the document /player_bones.
func AppendBones(b []byte, bones []Bones) []byte {
	b = append(b, `{"user_bones":[`...)
	for i := range bones {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"bone_t":[`...)
		for j := range bones[i].Positions {
			b = appendMore(b, bones[i].Positions[j][:])
		}
		b[len(b)-1] = ']'
		b = append(b, `,"bone_o":[`...)
		for j := range bones[i].Rotations {
			b = appendMore(b, bones[i].Rotations[j][:])
		}
		b[len(b)-1] = ']'
		b = append(b, '}')
	}
	return append(b, `],"err_code":0}`...)
}
