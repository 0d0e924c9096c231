package echo

import (
	"strconv"
	"strings"

	"recfs/formats/internal/jsonenc"
)

// known is a member of a match, which is nil if the text does not have it.
func known[V any](key string, at func(*Match) **V, parse func([]byte) (V, bool), put func([]byte, V) []byte) member[Match] {
	return member[Match]{
		key: key,
		put: func(b []byte, m *Match, _ frameContext) []byte { return put(b, **at(m)) },
		take: func(r *lineParser, m *Match, _ *Lacks) {
			*at(m) = nil
			if v, ok := parse(r.Value()); ok {
				*at(m) = &v
			}
		},
	}
}

// points are the points of a team.
func points(key string, team int) member[Frame] {
	m := number(key, LacksPoints+team, func(f *Frame) *float32 { return &f.Points[team] })
	m.put = func(b []byte, f *Frame, _ frameContext) []byte { return appendPoints(b, f, team) }
	return m
}

func shoulder(key string, which int) member[Frame] {
	return written(key, func(b []byte, f *Frame, _ frameContext) []byte {
		if f.Shoulders[which] {
			return append(b, "1.0"...)
		}
		return append(b, "0.0"...)
	})
}

func putDisplay(b []byte, f *Frame, _ frameContext) []byte {
	return append(Display(append(b, '"'), f.Clock), '"')
}

func takeKind(r *lineParser, f *Frame, _ *Lacks) {
	if s, _ := ParseText(r.Value()); strings.HasPrefix(s, "Echo_Combat") || strings.HasPrefix(s, "mpl_combat_") {
		f.Kind = Combat
	} else if s == "mpl_arena_a" && f.Kind == Other {
		f.Kind = Arena
	}
}

// rulesAt is when the rules were changed. In events large numbers are texts.
func rulesAt() member[Frame] {
	m := integer("rules_changed_at", LacksRules, func(f *Frame) *int64 { return &f.Rules.At }).only(inArena)
	put := m.put
	m.put = func(b []byte, f *Frame, w frameContext) []byte {
		if w.event && !w.lacks.At(LacksRules) {
			return jsonenc.AppendInt64(b, f.Rules.At)
		}
		return put(b, f, w)
	}
	return m
}

func putHolder(b []byte, f *Frame, _ frameContext) []byte {
	holder := f.possession()
	b = strconv.AppendInt(append(b, '['), holder[0], 10)
	b = strconv.AppendInt(append(b, ','), holder[1], 10)
	return append(b, ']')
}

func takeHolder(r *lineParser, f *Frame, l *Lacks) {
	for i := range r.Elements(len(f.Holder)) {
		take(&f.Holder[i], l, LacksHolder+i, r.Value(), ParseInt)
	}
}

func takeDisc(r *lineParser, f *Frame, l *Lacks) {
	if r.Peek() == '{' {
		f.Has |= HasDisc
	}
	discObject.read(r, f, l)
}

// putVR appends where the player is who recorded the match.
func putVR(b []byte, f *Frame, _ frameContext) []byte {
	forward, left, up := f.VR.Rotation.Vectors()
	b = appendFloats(append(b, `{"vr_left":`...), left[:])
	b = appendFloats(append(b, `,"vr_position":`...), f.VR.Position[:])
	b = appendFloats(append(b, `,"vr_forward":`...), forward[:])
	b = appendFloats(append(b, `,"vr_up":`...), up[:])
	return append(b, '}')
}

// teamTitles are the names of the teams in sessions.
var teamTitles = [3]string{`"BLUE TEAM"`, `"ORANGE TEAM"`, `"SPECTATORS"`}

func putTeams(b []byte, f *Frame, w frameContext) []byte {
	b = append(b, '[')
	for w.team = range f.Teams {
		b = append(teamObject.append(b, &f.Teams[w.team], w), ',')
	}
	b[len(b)-1] = ']'
	return b
}

// takeTeams reads the teams. Players of a lean r are valid until the next frame is read; otherwise
// they are copied. If there are several lists the last one counts.
func takeTeams(r *lineParser, f *Frame, _ *Lacks) {
	clear(f.Teams[:])
	for i := range r.Elements(len(f.Teams)) {
		t := &f.Teams[i]
		t.Players = r.players[i][:0]
		teamObject.read(r, t, nil)
		if r.players[i] = t.Players; !r.lean {
			t.Players = append(make([]Player, 0, len(t.Players)), t.Players...)
		}
	}
}

func putPlayers(b []byte, t *Team, w frameContext) []byte {
	if len(t.Players) == 0 {
		return b
	}
	b = append(b, '[')
	for i := range t.Players {
		b = append(playerObject.append(b, &t.Players[i], w), ',')
	}
	b[len(b)-1] = ']'
	return b
}

// maxPlayers bounds the players of a team in events and tables, as in .butter. A match has at most
// 15.
const maxPlayers = 255

// takePlayers reads the players of a team. If there are several lists the last one counts.
func takePlayers(r *lineParser, t *Team, _ *Lacks) {
	if r.Peek() != '[' {
		r.Value()
		return
	}
	t.Players = t.Players[:0]
	for range r.Elements(maxPlayers) {
		t.Players = append(t.Players, Player{Lacks: LacksPlayer})
		p := &t.Players[len(t.Players)-1]
		playerObject.read(r, p, &p.Lacks)
	}
}

func putTeamStats(b []byte, t *Team, w frameContext) []byte {
	if w.team == 2 || len(t.Players) == 0 {
		return b
	}
	return statsObject.append(b, &t.Stats, w)
}

func putStats(b []byte, p *Player, w frameContext) []byte {
	if !p.HasStats {
		return b
	}
	return statsObject.append(b, &p.Stats, w)
}

func takeStats(r *lineParser, p *Player, _ *Lacks) {
	if p.HasStats = r.Peek() == '{'; r.lean {
		r.Value()
		return
	}
	p.Stats = Stats{Lacks: LacksStats}
	statsObject.read(r, &p.Stats, &p.Stats.Lacks)
}

// flag is a boolean, which players on combat maps do not have.
func flag(key string, bit int, at func(*Player) *bool) member[Player] {
	return value(key, bit, at, ParseBool, strconv.AppendBool).only(inArena)
}

// holding is what a hand holds.
func holding(key string, hand int) member[Player] {
	return member[Player]{
		key: key,
		put: func(b []byte, p *Player, _ frameContext) []byte {
			if p.Holding[hand] == "" {
				return b
			}
			return jsonenc.AppendString(b, p.Holding[hand])
		},
		take: func(r *lineParser, p *Player, _ *Lacks) { p.Holding[hand], _ = ParseText(r.Value()) },
	}
}

// carried is an item of a loadout.
func carried(key string, of func(*Loadout) string) member[Player] {
	return written(key, func(b []byte, p *Player, _ frameContext) []byte {
		if p.Loadout == nil {
			return b
		}
		return jsonenc.AppendString(b, of(p.Loadout))
	}).only(inCombat)
}

// The shapes of a head or body, and of a hand.
var (
	headShape = newShape("position", "forward", "left", "up")
	handShape = newShape("pos", "forward", "left", "up")
)

// pose is one of the poses of a player, of which only the position is read. In old recordings a
// hand is just a list.
func pose(key string, s *shape, which, bit int) member[Player] {
	start := `{"` + s.keys[0] + `":`
	return member[Player]{
		key: key, shape: s,
		put: func(b []byte, p *Player, _ frameContext) []byte {
			return append(appendPose(append(b, start...), &p.Poses[which]), '}')
		},
		take: func(r *lineParser, p *Player, l *Lacks) {
			at := &p.Poses[which].Position
			if r.Peek() == '[' {
				takeVector(r, at, l, bit)
				return
			}
			for i := range at {
				l.Set(bit+i, true)
			}
			for key := range r.Members() {
				if string(key) == `"position"` || string(key) == `"pos"` {
					takeVector(r, at, l, bit)
					r.Leave()
					break
				}
				r.Value()
			}
		},
	}
}

// placed is the position of a pose. It is written with the directions of the pose behind it.
func placed[T any](key string, bit int, at func(*T) *Pose) member[T] {
	return member[T]{
		key:  key,
		put:  func(b []byte, v *T, _ frameContext) []byte { return appendPose(b, at(v)) },
		take: func(r *lineParser, v *T, l *Lacks) { takeVector(r, &at(v).Position, l, bit) },
	}
}

// appendPose appends a position, and the members with its directions.
func appendPose(b []byte, p *Pose) []byte {
	forward, left, up := p.Rotation.Vectors()
	b = appendFloats(b, p.Position[:])
	b = appendFloats(append(b, `,"forward":`...), forward[:])
	b = appendFloats(append(b, `,"left":`...), left[:])
	return appendFloats(append(b, `,"up":`...), up[:])
}

func vector[T any](key string, bit int, at func(*T) *Vec3) member[T] {
	return member[T]{
		key:  key,
		put:  func(b []byte, v *T, _ frameContext) []byte { return appendFloats(b, at(v)[:]) },
		take: func(r *lineParser, v *T, l *Lacks) { takeVector(r, at(v), l, bit) },
	}
}

// takeVector reads the next value.
func takeVector(r *lineParser, p *Vec3, l *Lacks, bit int) {
	n := 0
	for i := range r.Elements(len(p)) {
		take(&p[i], l, bit+i, r.Value(), ParseFloat)
		n++
	}
	for i := n; i < len(p); i++ {
		p[i] = 0
		l.Set(bit+i, true)
	}
}
