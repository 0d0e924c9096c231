package echo

import (
	"encoding/json"
)

// A Summary collects what is made of all frames of a recording, which it takes in their order. Its
// exported fields are all that a later pass needs to go on, besides the events.
type Summary struct {
	Ticks, BonesTicks int64
	First, Last       int64  // times of the first and the last frame, if there is one
	Before            Frame  // the last one, without players and bones
	Roster            roster // its players
	Goals             [][]byte
	Players           []*playerResult

	events []Event
	then   roster // of the frame before the last one
	of     map[PlayerKey]*playerResult
	tick   int64 // of the last frame
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
	p := s.of[v.key()]
	if p == nil {
		p = &playerResult{Key: v.key(), Number: v.Player.Number, Level: v.Player.Level, Lacks: v.Player.Lacks, First: s.tick}
		s.Players = append(s.Players, p)
		s.note(p)
	}
	p.Team, p.Last = v.Team, s.tick
	p.Ticks++
	if v.Player.HasStats && kind != Combat {
		p.HasStats, p.Stats = true, v.Player.Stats
	}
}

// note makes player find a result.
func (s *Summary) note(p *playerResult) {
	if s.of == nil {
		s.of = map[PlayerKey]*playerResult{}
	}
	s.of[p.Key] = p
}

// Scores returns the value of scores.json.
func (s *Summary) Scores(m *Match) any {
	scores := struct {
		MatchType    *string           `json:"match_type"`
		MapName      *string           `json:"map_name"`
		Blue         json.RawMessage   `json:"blue_points"`
		Orange       json.RawMessage   `json:"orange_points"`
		BlueRounds   *int64            `json:"blue_round_score"`
		OrangeRounds *int64            `json:"orange_round_score"`
		TotalRounds  *int64            `json:"total_round_count"`
		Goals        []json.RawMessage `json:"goals"`
		Players      []json.RawMessage `json:"players"`
	}{
		MatchType: m.MatchType, MapName: m.MapName,
		BlueRounds: m.BlueRounds, OrangeRounds: m.OrangeRounds, TotalRounds: m.TotalRounds,
		Goals: make([]json.RawMessage, len(s.Goals)), Players: make([]json.RawMessage, len(s.Players)),
	}
	if s.Ticks > 0 {
		f := &s.Before
		scores.Blue, scores.Orange = appendPoints(nil, f, 0), appendPoints(nil, f, 1)
	}
	for i, g := range s.Goals {
		scores.Goals[i] = g
	}
	for i, p := range s.Players {
		scores.Players[i] = p.json()
	}
	return scores
}

func (p *playerResult) json() []byte {
	b := appendMember(nil, "name", p.Key.Lacks.At(LacksName), p.Key.Name)
	b[0] = '{' // instead of its comma
	b = putLong(b, `,"userid":`, p.Key.Lacks.At(LacksUserID), p.Key.ID)
	b = putInt(b, `,"number":`, p.Lacks.At(LacksNumber), int64(p.Number))
	b = putInt(b, `,"level":`, p.Lacks.At(LacksLevel), int64(p.Level))
	b = append(b, `,"team":"`...)
	b = append(b, TeamNames[p.Team]...)
	b = putInt(b, `","first_tick":`, false, p.First)
	b = putInt(b, `,"last_tick":`, false, p.Last)
	b = putInt(b, `,"ticks":`, false, p.Ticks)
	b = append(b, ',')
	if p.HasStats {
		b = statsObject.append(append(b, `"stats":`...), &p.Stats, frameContext{lacks: p.Stats.Lacks})
	} else {
		b = append(b, `"stats":null`...)
	}
	return append(b, '}')
}
