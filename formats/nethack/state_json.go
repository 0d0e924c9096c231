package nethack

import (
	"strings"

	"recfs/formats/internal/jsonenc"
)

// appendDocument appends a state as one of the documents of states/ (docs/tree/nethack.md sections
// 6 and 6a).
func (s *state) appendDocument(dst []byte) []byte {
	m := members{dst, ",\n  "}
	m.numbers("tick turn", int32(s.Tick), s.Turn)
	m.word("time", s.Time)
	m.word("save", &s.Save)
	m.word("incarnation", &s.Incarnation)
	m.numbers("timezone", s.Timezone)
	if s.details != nil {
		m.group("game", s.Game != nil, func() { s.Game.append(&m) })
		m.group("hero", s.Hero != nil, func() { s.Hero.append(&m) })
		m.group("attributes", s.Attributes != nil, func() { s.Attributes.append(&m) })
		m.group("conducts", s.Conducts != nil, func() { m.numbers(conductKeys, s.Conducts[:]...) })
		m.group("location", s.Location != nil, func() { s.Location.append(&m) })
		m.rows("map", s.Map)
		if s.around != nil {
			m.around(s.around)
		}
	}
	m.doc[len(dst)] = '{'
	return append(m.doc, "\n}\n"...)
}

func (g *game) append(m *members) {
	m.flags("debug explore", g.Debug, g.Explore)
	m.numbers("moon_phase", g.MoonPhase)
	m.flags("friday_13th", g.Friday13th)
	m.text("set_seed", g.SetSeed, g.SetSeedHex)
}

func (h *hero) append(m *members) {
	m.text("name", h.Name, h.NameHex)
	m.word("role", h.Role)
	m.word("race", h.Race)
	m.word("gender", &h.Gender)
	m.word("alignment", h.Alignment)
	m.numbers("hp hp_max power power_max level level_max experience",
		h.HP, h.HPMax, h.Power, h.PowerMax, h.Level, h.LevelMax, h.Experience)
	m.flags("polymorphed", h.Polymorphed)
	m.numbers("monster monster_hp monster_hp_max nutrition hunger prayer_timeout alignment_record luck luck_bonus",
		h.Monster, h.MonsterHP, h.MonsterHPMax, int32(h.Nutrition), h.Hunger, int32(h.PrayerTimeout), h.AlignmentRecord,
		int32(h.Luck), int32(h.LuckBonus))
	m.flags("swallowed in_water hiding invulnerable quest_completed invocation_done entered_gehennom killed_wizard ascended",
		h.Swallowed, h.InWater, h.Hiding, h.Invulnerable, h.QuestCompleted, h.InvocationDone, h.EnteredGehennom, h.KilledWizard, h.Ascended)
	m.text("occupation", h.Occupation, h.OccupationHex)
}

func (a *attributes) append(m *members) {
	m.numbers("str int wis dex con cha", int32(a.Str), int32(a.Int), int32(a.Wis), int32(a.Dex), int32(a.Con), int32(a.Cha))
}

func (l *location) append(m *members) {
	m.numbers("dungeon", int32(l.Dungeon))
	m.text("dungeon_name", l.DungeonName, l.DungeonNameHex)
	m.numbers("level", int32(l.Level))
	m.key("depth")
	m.doc = jsonenc.AppendInt(m.doc, l.Depth)
	m.numbers("x y", int32(l.X), int32(l.Y))
}

// members are those of an object, each on a line of its own. In front of each is a comma, a newline
// and blanks; the first comma becomes the bracket.
type members struct {
	doc    []byte
	margin string
}

func (m *members) key(key string) {
	m.doc = append(append(append(append(m.doc, m.margin...), '"'), key...), "\": "...)
}

// numbers appends some whose keys stand with blanks between them, as flags does.
func (m *members) numbers(keys string, list ...int32) {
	appendEach(m, keys, list, jsonenc.AppendInt[int32])
}

func (m *members) flags(keys string, list ...bool) { appendEach(m, keys, list, jsonenc.AppendBool) }

func appendEach[T any](m *members, keys string, list []T, one func([]byte, T) []byte) {
	i := 0
	for key := range strings.SplitSeq(keys, " ") {
		m.key(key)
		m.doc = one(m.doc, list[i])
		i++
	}
}

// text appends a text, and its bytes in hex if they are not UTF-8.
func (m *members) text(key, s, asHex string) {
	m.word(key, &s)
	if asHex != "" {
		m.word(key+"_hex", &asHex)
	}
}

// word appends a text, or null.
func (m *members) word(key string, s *string) {
	m.key(key)
	m.doc = jsonenc.AppendIf(m.doc, s != nil, s, func(doc []byte, s *string) []byte { return jsonenc.AppendString(doc, *s) })
}

// group appends an object whose members add appends, or null.
func (m *members) group(key string, known bool, add func()) {
	m.key(key)
	if !known {
		m.doc = append(m.doc, "null"...)
		return
	}
	margin, start := m.margin, len(m.doc)
	m.margin += "  "
	add()
	m.margin = margin
	m.doc[start] = '{'
	m.doc = append(append(m.doc, margin[len(","):]...), '}')
}

// around appends what is around the hero.
func (m *members) around(a *around) {
	l := a.level
	if l == nil {
		l = &level{}
	}
	m.rows("screen", a.screen)
	appendList(m, "inventory", a.pack, a.pack != nil, (*object).appendCarried)
	appendList(m, "monsters", l.monsters, a.level != nil, (*monster).appendJSON)
	appendList(m, "objects", l.objects, a.level != nil, (*object).appendLying)
	appendList(m, "traps", l.traps, a.level != nil, (*trap).appendJSON)
}

// rows appends the rows of a map.
func (m *members) rows(key string, rows []string) {
	appendList(m, key, rows, rows != nil, func(row *string, doc []byte) []byte {
		if strings.IndexByte(*row, '"') < 0 && strings.IndexByte(*row, '\\') < 0 { // as symbols are printable
			return append(append(append(doc, '"'), *row...), '"')
		}
		return jsonenc.AppendString(doc, *row)
	})
}

// appendList appends a list of which each element stands on a line, or null.
func appendList[T any](m *members, key string, list []T, known bool, one func(*T, []byte) []byte) {
	m.key(key)
	switch {
	case !known:
		m.doc = append(m.doc, "null"...)
		return
	case len(list) == 0:
		m.doc = append(m.doc, "[]"...)
		return
	}
	sep := byte('[')
	for i := range list {
		m.doc = one(&list[i], append(append(m.doc, sep), "\n    "...))
		sep = ','
	}
	m.doc = append(m.doc, "\n  ]"...)
}
