package teehistorian

import (
	"maps"
	"slices"

	"recfs/formats/internal/jsonenc"
)

// appendState appends the part of a document of states/ after time_ms (docs/tree/teehistorian.md
// section 6).
func appendState(b []byte, s *state) []byte {
	b = append(b, ",\n  \"players\": ["...)
	first := true
	for _, slot := range s.slots {
		if slot == 0 {
			continue
		}
		p := &s.players[slot-1]
		if !p.shown() {
			continue
		}
		b = appendElement(b, &first)
		b = appendPlayer(b, p)
	}
	return append(appendTeams(closeList(b, first), s), "\n}\n"...)
}

// shown reports whether states show the player.
func (p *player) shown() bool { return p.open || p.alive }

func appendTeams(b []byte, s *state) []byte {
	b = append(b, ",\n  \"teams\": ["...)
	first := true
	for _, t := range s.teams() {
		b = appendElement(b, &first)
		b = appendTeam(b, t)
	}
	return closeList(b, first)
}

// appendElement begins the line of an element of a list of objects.
func appendElement(b []byte, first *bool) []byte {
	if !*first {
		b = append(b, ',')
	}
	*first = false
	return append(b, element...)
}

func closeList(b []byte, empty bool) []byte {
	if !empty {
		b = append(b, "\n  "...)
	}
	return append(b, ']')
}

func appendPlayer(b []byte, p *player) []byte {
	known := p.open // a character may outlive its stay
	b = append(b, `{"cid":`...)
	b = jsonenc.AppendInt(b, p.cid)
	b = jsonenc.AppendIf(jsonenc.AppendKey(b, "name"), known && p.named, p.name, jsonenc.AppendString)
	b = jsonenc.AppendIf(jsonenc.AppendKey(b, "clan"), known && p.hasClan, p.clan, jsonenc.AppendString)
	b = jsonenc.AppendIf(jsonenc.AppendKey(b, "protocol"), known, p.protocol, appendProtocol)
	b = appendNumber(b, "team", p.team)
	b = jsonenc.AppendBool(jsonenc.AppendKey(b, "alive"), p.alive)
	if p.alive {
		b = appendNumber(b, "x", p.x)
		b = appendNumber(b, "y", p.y)
	} else {
		b = append(b, `,"x":null,"y":null`...)
	}
	b = jsonenc.AppendIf(jsonenc.AppendKey(b, "input"), known && p.hasInput, &p.input, appendInput)
	b = jsonenc.AppendKey(b, "auth")
	if known && p.hasAuth {
		b = append(b, `{"level":`...)
		b = jsonenc.AppendInt(b, p.auth.level)
		b = jsonenc.AppendString(jsonenc.AppendKey(b, "identity"), p.auth.identity)
		b = append(b, '}')
	} else {
		b = append(b, "null"...)
	}
	return append(b, '}')
}

// A team is a DDRace team.
type team struct {
	number   int32
	members  []int32
	practice bool
}

func appendTeam(b []byte, t team) []byte {
	b = append(b, `{"team":`...)
	b = jsonenc.AppendInt(b, t.number)
	b = jsonenc.AppendList(jsonenc.AppendKey(b, "members"), slices.Values(t.members), jsonenc.AppendInt[int32])
	b = jsonenc.AppendBool(jsonenc.AppendKey(b, "practice"), t.practice)
	return append(b, '}')
}

// teams returns the teams that have practice on, and those but team 0 that have members.
func (s *state) teams() []team {
	byNumber := map[int32]*team{}
	get := func(n int32) *team {
		if byNumber[n] == nil {
			byNumber[n] = &team{number: n}
		}
		return byNumber[n]
	}
	for n := range s.practice {
		get(n).practice = true
	}
	for _, slot := range s.slots {
		if slot == 0 {
			continue
		}
		if p := &s.players[slot-1]; p.team != 0 {
			t := get(p.team)
			t.members = append(t.members, p.cid)
		}
	}
	teams := make([]team, 0, len(byNumber))
	for _, n := range slices.Sorted(maps.Keys(byNumber)) {
		teams = append(teams, *byNumber[n])
	}
	return teams
}
