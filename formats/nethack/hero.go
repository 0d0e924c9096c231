package nethack

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// A heroState is what a save says of the hero.
type heroState struct {
	hero       hero
	attributes attributes
	conducts   conducts
	location   location
}

// How many bytes the hero takes in a save, and how many stand between the causes of death behind
// him and the dungeons: his last inventory number, and himself as a monster.
const (
	heroSize      = 1783
	heroAsMonster = 4 + monsterSize
)

// readHero decodes a save without game and map into s. It reports whether a state has a hero.
func readHero(save []byte, s *heroState) bool {
	if binary.LittleEndian.Uint32(save) != incarnation43 {
		return false
	}
	r := fields{b: save, moves: saveTurn(save)}
	r.readHero(s)
	return !r.bad
}

// readHero reads what is of the hero, whose offsets are those of docs/formats/nethack.md section
// 7.3, and finds where he and the list of dungeons begin.
func (r *fields) readHero(s *heroState) {
	n := r.length(stringAt)
	r.you = 276 + n + 44*r.length(270+n)
	r.dungeons = r.you + heroSize
	for range 4 { // delayed causes of death
		r.dungeons += 4 + r.length(r.dungeons)
	}
	r.dungeons += heroAsMonster
	y := (*heroBytes)(r.at(r.you, heroSize))
	r.role = y.i32(188)
	y.names(&s.hero)
	y.numbers(&s.hero)
	s.hero.Nutrition, s.hero.PrayerTimeout = r.counter(y.u32(84)), r.counter(y.u32(152))
	textTo(&s.hero.Occupation, &s.hero.OccupationHex, cutText(y[780:780+256]))
	y.habits(&s.attributes, &s.conducts)
	r.location(&s.location)
}

// heroBytes are the hero in a save.
type heroBytes [heroSize]byte

func (y *heroBytes) u32(at int) uint32 { return binary.LittleEndian.Uint32(y[at:]) }
func (y *heroBytes) i32(at int) int32  { return int32(y.u32(at)) }
func (y *heroBytes) i8(at int) int8    { return int8(y[at]) }

// flag returns bit n of the word at an offset.
func (y *heroBytes) flag(at, n int) bool { return y.u32(at)>>n&1 != 0 }

func (y *heroBytes) names(h *hero) {
	textTo(&h.Name, &h.NameHex, cutText(y[1179:1179+32]))
	h.Role, h.Race, h.Alignment = word(roles, y.i32(188)), word(races, y.i32(192)), word(alignments, int32(y.i8(228))+1)
	h.Gender = "mal"
	if y.flag(8, 21) {
		h.Gender = "fem"
	}
}

func (y *heroBytes) numbers(h *hero) {
	h.HP, h.HPMax, h.Power, h.PowerMax = y.i32(16), y.i32(20), y.i32(24), y.i32(28)
	h.Level, h.LevelMax, h.Experience = y.i32(32), y.i32(48), y.i32(40)
	h.Monster, h.MonsterHP, h.MonsterHPMax = y.i32(56), y.i32(60), y.i32(64)
	h.Polymorphed, h.Hunger, h.AlignmentRecord = h.Monster != y.i32(52), y.i32(88), y.i32(136)
	h.Luck, h.LuckBonus = y.i8(231), y.i8(232)
	h.Swallowed, h.InWater, h.Hiding, h.Invulnerable = y.flag(8, 31), y.flag(8, 30), y.flag(8, 29), y.flag(8, 27)
	h.QuestCompleted, h.InvocationDone, h.EnteredGehennom = y.flag(12, 27), y.flag(12, 23), y.flag(12, 22)
	h.KilledWizard, h.Ascended = y.flag(12, 19), y.flag(12, 18)
}

func (y *heroBytes) habits(a *attributes, c *conducts) {
	*a = attributes{
		y.i8(1083), y.i8(1084), y.i8(1085), y.i8(1086), y.i8(1087), y.i8(1088),
	}
	for i := range c {
		c[i] = y.i32(1211 + 8*i)
	}
}

// depth32 returns the depth in 32 bits. Only that of a damaged save is too large for them.
func (l *location) depth32() int32 { return int32(min(l.Depth, math.MaxInt32)) }

// location reads where the hero is (docs/formats/nethack.md section 7.5).
func (r *fields) location(l *location) {
	const dungeonSize = 55
	l.Dungeon, l.Level, l.X, l.Y = r.u8(r.you+222), r.u8(r.you+223), r.u8(r.you+216), r.u8(r.you+217)
	if string(r.at(r.dungeons, 4)) != "DGN\x00" || int32(l.Dungeon) >= r.i32(r.dungeons+4) {
		r.bad = true
		return
	}
	entry := r.dungeons + 8 + dungeonSize*int64(l.Dungeon)
	textTo(&l.DungeonName, &l.DungeonNameHex, r.text(entry, 24))
	l.Depth = int64(r.i32(entry+51)) + int64(l.Level) - 1
}

// heroColumns are the columns of export/hero.csv (docs/tree/nethack.md section 7a).
var heroColumns = []string{
	"tick", "turn", "time", "hp", "hp_max", "power", "power_max", "level", "experience", "ac", "dungeon", "depth", "x", "y",
	"nutrition", "luck", "str", "int", "wis", "dex", "con", "cha",
}

func appendHeroColumns(doc []byte) []byte {
	return append(append(doc, strings.Join(heroColumns, ",")...), '\n')
}

// appendHero appends the row of tick n, in a timezone. The armour class on the screen is not in a
// save.
func appendHero(doc []byte, n int, t tick, zone int32, s *heroState) []byte {
	h, l, a := &s.hero, &s.location, &s.attributes
	numbers := func(list ...int64) {
		for _, v := range list {
			doc = append(strconv.AppendInt(doc, v, 10), ',')
		}
	}
	numbers(int64(n), int64(t.turn))
	if time := timeOf(t.clock, zone); time != nil {
		doc = append(doc, *time...)
	}
	doc = append(doc, ',')
	numbers(int64(h.HP), int64(h.HPMax), int64(h.Power), int64(h.PowerMax), int64(h.Level), int64(h.Experience))
	doc = append(doc, ',')
	numbers(int64(l.Dungeon), l.Depth, int64(l.X), int64(l.Y), h.Nutrition, int64(h.Luck),
		int64(a.Str), int64(a.Int), int64(a.Wis), int64(a.Dex), int64(a.Con), int64(a.Cha))
	doc[len(doc)-1] = '\n'
	return doc
}
