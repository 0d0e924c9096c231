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
	of      map[identity]*playerResult
}

// A playerResult is what scores.json says of one player.
type playerResult struct {
	identity
	number, level      int32
	lacks              Lacks // of these
	team               int
	first, last, ticks int64
	hasStats           bool
	stats              Stats
}

// Add takes the next frame.
func (s *Summary) Add(tick int64, f *Frame) {
	if s.Ticks == 0 {
		s.First = f.Time
		s.of = map[identity]*playerResult{}
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

func (s *Summary) player(tick int64, k identity, v seen, kind Kind) {
	p := s.of[k]
	if p == nil {
		p = &playerResult{identity: k, number: v.player.Number, level: v.player.Level, lacks: v.player.Lacks, first: tick}
		s.of[k] = p
		s.players = append(s.players, p)
	}
	p.team, p.last = v.team, tick
	p.ticks++
	if v.player.HasStats && kind != Combat {
		p.hasStats, p.stats = true, v.player.Stats
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
	b := appendMember(nil, "name", p.identity.lacks.At(LacksName), p.name)
	b[0] = '{' // instead of its comma
	b = putLong(b, `,"userid":`, p.identity.lacks.At(LacksUserID), p.id)
	b = putInt(b, `,"number":`, p.lacks.At(LacksNumber), int64(p.number))
	b = putInt(b, `,"level":`, p.lacks.At(LacksLevel), int64(p.level))
	b = append(b, `,"team":"`...)
	b = append(b, TeamNames[p.team]...)
	b = putInt(b, `","first_tick":`, false, p.first)
	b = putInt(b, `,"last_tick":`, false, p.last)
	b = putInt(b, `,"ticks":`, false, p.ticks)
	b = append(b, ',')
	if p.hasStats {
		b = appendStats(b, &p.stats)
	} else {
		b = append(b, `"stats":null`...)
	}
	return append(b, '}')
}
