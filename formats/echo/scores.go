package echo

import (
	"encoding/json"

	"recfs/formats/internal/jsonenc"
)

// scores returns scores.json.
func (x *Index) scores(m *Match) ([]byte, error) {
	scores := struct {
		MatchType    *string           `json:"match_type"`
		TypeHex      string            `json:"match_type_hex,omitempty"`
		MapName      *string           `json:"map_name"`
		MapHex       string            `json:"map_name_hex,omitempty"`
		Blue         json.RawMessage   `json:"blue_points"`
		Orange       json.RawMessage   `json:"orange_points"`
		BlueRounds   *int64            `json:"blue_round_score"`
		OrangeRounds *int64            `json:"orange_round_score"`
		TotalRounds  *int64            `json:"total_round_count"`
		Goals        []json.RawMessage `json:"goals"`
		Players      []json.RawMessage `json:"players"`
	}{
		BlueRounds: m.BlueRounds, OrangeRounds: m.OrangeRounds, TotalRounds: m.TotalRounds, Blue: x.Points[0], Orange: x.Points[1],
		Goals: []json.RawMessage{}, Players: make([]json.RawMessage, len(x.Played)),
	}
	scores.MatchType, scores.TypeHex = displayed(m.MatchType)
	scores.MapName, scores.MapHex = displayed(m.MapName)
	for _, e := range x.goals() {
		b := AppendTime(append(putInt(nil, `{"tick":`, false, e.Tick), `,"time":`...), e.Time)
		scores.Goals = append(scores.Goals, append(append(b, e.Rest...), '}'))
	}
	for i := range x.Played {
		scores.Players[i] = x.Played[i].json()
	}
	return jsonenc.MarshalIndented(scores)
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
