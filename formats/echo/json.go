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
		b = putInt(b, `"orange_team_restart_request":`, false, f.Restart[1])
		b = append(b, ',')
	}
	b = append(b, e.session...)
	if clock {
		b = append(b, `,"game_clock_display":"`...)
		b = Display(b, f.Clock)
		b = append(b, '"')
	}
	if !combat {
		b = putText(b, `,"game_status":`, f.Status)
	}
	b = append(b, e.match...)
	b = appendShoulder(b, `,"right_shoulder_pressed2":`, f.Shoulders[3])
	b = e.teams(b, f)
	b = append(b, e.blueRound...)
	b = appendPoints(append(b, `,"orange_points":`...), f, 1)
	b = appendVR(b, &f.VR)
	b = append(b, e.private...)
	if !combat {
		b = putInt(b, `,"blue_team_restart_request":`, false, f.Restart[0])
	}
	b = append(b, e.tournament...)
	if !combat {
		b = putText(b, `,"rules_changed_by":`, f.Rules.By)
	}
	b = append(b, e.rounds...)
	b = appendShoulder(b, `,"left_shoulder_pressed2":`, f.Shoulders[2])
	b = appendShoulder(b, `,"left_shoulder_pressed":`, f.Shoulders[0])
	b = appendPause(b, &f.Pause)
	b = appendShoulder(b, `,"right_shoulder_pressed":`, f.Shoulders[1])
	b = appendPoints(append(b, `,"blue_points":`...), f, 0)
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
		b = putFloat(b, `,"game_clock":`, false, f.Clock)
	}
	if !combat {
		b = appendPossession(b, f)
		if f.Has&HasScore != 0 {
			b = appendScore(b, &f.Score)
		}
		b = putInt(b, `,"rules_changed_at":`, false, f.Rules.At)
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
			b = putBool(b, `,"possession":`, t.Possession)
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
	b = putText(b, `{"name":`, p.Name)
	b = appendPose(b, `,"rhand":{"pos":`, &p.Poses[RightHand])
	b = putInt(b, `,"playerid":`, false, int64(p.ID))
	if p.HasStats && !combat {
		b = append(b, ',')
		b = appendStats(b, &p.Stats)
	}
	b = putInt(b, `,"userid":`, false, p.UserID)
	if e.emotes {
		b = putBool(b, `,"is_emote_playing":`, p.Emote)
	}
	b = putInt(b, `,"number":`, false, int64(p.Number))
	b = putInt(b, `,"level":`, false, int64(p.Level))
	b = putInt(b, `,"ping":`, false, int64(p.Ping))
	b = putFloat(b, `,"packetlossratio":`, false, p.Loss)
	if !combat {
		b = putBool(b, `,"stunned":`, p.Stunned)
		b = putBool(b, `,"invulnerable":`, p.Invulnerable)
		b = putBool(b, `,"possession":`, p.Possession)
		b = putBool(b, `,"blocking":`, p.Blocking)
	}
	if p.Holding[0] != "" {
		b = putText(b, `,"holding_left":`, p.Holding[0])
	}
	b = appendPose(b, `,"head":{"position":`, &p.Poses[Head])
	b = appendPose(b, `,"body":{"position":`, &p.Poses[Body])
	if p.Holding[1] != "" {
		b = putText(b, `,"holding_right":`, p.Holding[1])
	}
	b = appendPose(b, `,"lhand":{"pos":`, &p.Poses[LeftHand])
	b = putFloats(b, `,"velocity":`, p.Velocity[:])
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
		b = putInt(b, "", s.Lacks.At(1+i), int64(n))
	}
	return append(b, '}')
}

// appendPose appends an object that begins with a position.
func appendPose(b []byte, start string, p *Pose) []byte {
	forward, left, up := p.Rotation.Vectors()
	b = putFloats(b, start, p.Position[:])
	b = putFloats(b, `,"forward":`, forward[:])
	b = putFloats(b, `,"left":`, left[:])
	b = putFloats(b, `,"up":`, up[:])
	return append(b, '}')
}

func appendDisc(b []byte, d *Disc) []byte {
	b = appendPose(b, `"disc":{"position":`, &d.Pose)
	b = putFloats(b[:len(b)-1], `,"velocity":`, d.Velocity[:])
	return append(b, `,"bounce_count":0}`...)
}

func appendVR(b []byte, p *Pose) []byte {
	forward, left, up := p.Rotation.Vectors()
	b = putFloats(b, `,"player":{"vr_left":`, left[:])
	b = putFloats(b, `,"vr_position":`, p.Position[:])
	b = putFloats(b, `,"vr_forward":`, forward[:])
	b = putFloats(b, `,"vr_up":`, up[:])
	return append(b, '}')
}

func appendPause(b []byte, p *Pause) []byte {
	b = putText(b, `,"pause":{"paused_state":`, p.State)
	b = putText(b, `,"unpaused_team":`, p.UnpausedTeam)
	b = putText(b, `,"paused_requested_team":`, p.RequestedTeam)
	b = putFloat(b, `,"unpaused_timer":`, false, p.UnpausedTimer)
	b = putFloat(b, `,"paused_timer":`, false, p.PausedTimer)
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
	b = putBool(b, `,"contested":`, p.Contested)
	b = putInt(b, `,"payload_checkpoint":`, false, int64(p.Checkpoint))
	b = putInt(b, `,"payload_defenders":`, false, int64(p.Defenders))
	b = putFloat(b, `,"payload_distance":`, false, p.Distance)
	return putFloat(b, `,"payload_speed":`, false, p.Speed)
}

func appendScore(b []byte, s *Score) []byte {
	b = putFloat(b, `,"last_score":{"disc_speed":`, false, s.DiscSpeed)
	b = putText(b, `,"team":`, s.Team)
	b = putText(b, `,"goal_type":`, s.GoalType)
	b = putInt(b, `,"point_amount":`, false, s.Points)
	b = putFloat(b, `,"distance_thrown":`, false, s.Distance)
	b = putText(b, `,"person_scored":`, s.Scorer)
	b = putText(b, `,"assist_scored":`, s.Assist)
	return append(b, '}')
}

// appendPossession appends who has the disc.
func appendPossession(b []byte, f *Frame) []byte {
	holder := f.possession()
	b = putInt(b, `,"possession":[`, false, holder[0])
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
