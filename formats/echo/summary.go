package echo

import (
	"encoding/json"
)

// A Summary collects what is made from all frames of a recording in order.
type Summary struct {
	Ticks, BonesTicks int64
	First, Last       int64 // times of the first and the last frame, if there is one

	events  eventList
	goals   [][]byte
	players []*playerResult
	of      map[PlayerKey]*playerResult
}

// A playerResult is what scores.json says of one player.
type playerResult struct {
	Key                PlayerKey
	Number, Level      int32
	Lacks              Lacks // of these
	Team               int
	First, Last, Ticks int64
	HasStats           bool
	Stats              Stats
}

// Add takes the next frame.
func (s *Summary) Add(tick int64, f *Frame) {
	if s.Ticks == 0 {
		s.First = f.Time
		s.of = map[PlayerKey]*playerResult{}
	}
	s.Ticks++
	s.Last = f.Time
	if f.Has&HasBones != 0 {
		s.BonesTicks++
	}
	if s.events.add(tick, f) {
		s.goal(tick, f)
	}
	for _, k := range s.events.now.order {
		s.player(tick, k, s.events.now.of[k], f.Kind)
	}
}

func (s *Summary) goal(tick int64, f *Frame) {
	b := putInt(nil, `{"tick":`, false, tick)
	b = append(b, `,"time":`...)
	b = AppendTime(b, f.Time)
	s.goals = append(s.goals, append(appendGoal(b, f), '}'))
}

func (s *Summary) player(tick int64, k PlayerKey, v seen, kind Kind) {
	p := s.of[k]
	if p == nil {
		p = &playerResult{Key: k, Number: v.Player.Number, Level: v.Player.Level, Lacks: v.Player.Lacks, First: tick}
		s.of[k] = p
		s.players = append(s.players, p)
	}
	p.Team, p.Last = v.Team, tick
	p.Ticks++
	if v.Player.HasStats && kind != Combat {
		p.HasStats, p.Stats = true, v.Player.Stats
	}
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
		Goals: make([]json.RawMessage, len(s.goals)), Players: make([]json.RawMessage, len(s.players)),
	}
	if s.Ticks > 0 {
		f := &s.events.before
		scores.Blue, scores.Orange = appendPoints(nil, f, 0), appendPoints(nil, f, 1)
	}
	for i, g := range s.goals {
		scores.Goals[i] = g
	}
	for i, p := range s.players {
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
		b = statsObject.append(append(b, `"stats":`...), &p.Stats, writing{lacks: p.Stats.Lacks})
	} else {
		b = append(b, `"stats":null`...)
	}
	return append(b, '}')
}
