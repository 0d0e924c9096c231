package nethack

import "encoding/binary"

// A heroState is what a save says of the hero.
type heroState struct {
	hero       hero
	attributes attributes
	conducts   conducts
	location   location
}

// readHero decodes a save without game and map into s. It reports whether a state has a hero.
func readHero(save []byte, s *heroState) bool {
	if binary.LittleEndian.Uint32(save) != incarnation43 {
		return false
	}
	r := fields{b: save, moves: saveTurn(save)}
	r.readHero(s)
	return !r.bad
}

// readHero reads what is of the hero, whose offsets are those of docs/formats/nethack.md section 7.3, and finds where he
// and the list of dungeons begin.
func (r *fields) readHero(s *heroState) {
	n := r.length(stringAt)
	r.you = 276 + n + 44*r.length(270+n)
	r.dungeons = r.you + heroSize
	for range 4 { // delayed causes of death
		r.dungeons += 4 + r.length(r.dungeons)
	}
	r.dungeons += heroAsMonster
	r.names(&s.hero)
	r.numbers(&s.hero)
	textTo(&s.hero.Occupation, &s.hero.OccupationHex, r.occupation())
	r.habits(&s.attributes, &s.conducts)
	r.location(&s.location)
}

// occupation returns the text of what he is busy with.
func (r *fields) occupation() []byte { return r.text(r.you+780, 256) }

// flag returns bit n of the word at an offset in the hero.
func (r *fields) flag(at int64, n int) bool { return r.u32(r.you+at)>>n&1 != 0 }

func (r *fields) names(h *hero) {
	y := r.you
	textTo(&h.Name, &h.NameHex, r.text(y+1179, 32))
	r.role = r.i32(y + 188)
	h.Role, h.Race, h.Alignment = word(roles, r.role), word(races, r.i32(y+192)), word(alignments, int32(r.i8(y+228))+1)
	h.Gender = "mal"
	if r.flag(8, 21) {
		h.Gender = "fem"
	}
}

func (r *fields) numbers(h *hero) {
	y := r.you
	h.HP, h.HPMax, h.Power, h.PowerMax = r.i32(y+16), r.i32(y+20), r.i32(y+24), r.i32(y+28)
	h.Level, h.LevelMax, h.Experience = r.i32(y+32), r.i32(y+48), r.i32(y+40)
	h.Monster, h.MonsterHP, h.MonsterHPMax = r.i32(y+56), r.i32(y+60), r.i32(y+64)
	h.Polymorphed, h.Hunger, h.AlignmentRecord = h.Monster != r.i32(y+52), r.i32(y+88), r.i32(y+136)
	h.Luck, h.LuckBonus = r.i8(y+231), r.i8(y+232)
	h.Nutrition, h.PrayerTimeout = r.counter(y+84), r.counter(y+152)
	h.Swallowed, h.InWater, h.Hiding, h.Invulnerable = r.flag(8, 31), r.flag(8, 30), r.flag(8, 29), r.flag(8, 27)
	h.QuestCompleted, h.InvocationDone, h.EnteredGehennom = r.flag(12, 27), r.flag(12, 23), r.flag(12, 22)
	h.KilledWizard, h.Ascended = r.flag(12, 19), r.flag(12, 18)
}

func (r *fields) habits(a *attributes, c *conducts) {
	y := r.you
	*a = attributes{
		r.i8(y + 1083), r.i8(y + 1084), r.i8(y + 1085), r.i8(y + 1086), r.i8(y + 1087), r.i8(y + 1088),
	}
	conduct := func(i int64) int32 { return r.i32(y + 1211 + 8*i) }
	*c = conducts{
		conduct(0), conduct(1), conduct(2), conduct(3), conduct(4), conduct(5), conduct(6), conduct(7),
		conduct(8), conduct(9), conduct(10), conduct(11), conduct(12), conduct(13), conduct(14),
	}
}

// location reads where the hero is (docs/formats/nethack.md section 7.5).
func (r *fields) location(l *location) {
	const dungeonSize = 55
	l.Dungeon, l.Level, l.X, l.Y = r.u8(r.you+222), r.u8(r.you+223), r.u8(r.you+216), r.u8(r.you+217)
	if string(r.at(r.dungeons, 4)) != "DGN\x00" || int32(l.Dungeon) >= r.i32(r.dungeons+4) {
		r.bad = true
		return
	}
	entry := r.dungeons + 8 + dungeonSize*int64(l.Dungeon)
	r.end = entry + dungeonSize
	textTo(&l.DungeonName, &l.DungeonNameHex, r.text(entry, 24))
	l.Depth = int64(r.i32(entry+51)) + int64(l.Level) - 1
}

// number returns a number that stands by itself.
func (r *fields) number(n heroNumber) int64 {
	at := r.you + n.at
	switch n.kind {
	case counterWord:
		return int64(int32(r.counter(at)))
	case signedByte:
		return int64(r.i8(at))
	case plainByte:
		return int64(r.u8(at))
	}
	return int64(r.i32(at))
}
