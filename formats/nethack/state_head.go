package nethack

import "recfs/formats/internal/jsonenc"

// moreHead returns how many bytes more the members in front of the game take than those of tick 0 of turn 0 in timezone 0
// that have empty texts.
func (x *index) moreHead(n int, timezone int32) int {
	t := x.ticks.at(n)
	size := jsonenc.Int64Len(int64(n)) - 1 + moreDigits(t.turn, timezone) +
		saveNameLen(t.turn, t.nth) + len("04030000")
	if _, ok := utcMicros(t.clock, x.zone(n)); ok {
		return size + len(utcLayout)
	}
	return size + len("null") - len(`""`)
}

// more returns how many bytes more a game takes than one without a seed.
func (g *game) more() int {
	return moreDigits(g.MoonPhase) - trues(g.Debug, g.Explore, g.Friday13th) + moreText("set_seed", g.SetSeed, g.SetSeedHex)
}

// more returns how many bytes more a state takes than the zero one.
func (s *heroState) more() int {
	h, a, c, l := &s.hero, &s.attributes, &s.conducts, &s.location
	n := moreDigits(
		h.HP, h.HPMax, h.Power, h.PowerMax, h.Level, h.LevelMax, h.Experience, h.Monster, h.MonsterHP, h.MonsterHPMax,
		h.Hunger, h.AlignmentRecord, int32(h.Luck), int32(h.LuckBonus),
		int32(a.Str), int32(a.Int), int32(a.Wis), int32(a.Dex), int32(a.Con), int32(a.Cha),
		c.Food, c.Vegan, c.Vegetarian, c.Gnostic, c.WeaponHit, c.Killer, c.Illiterate, c.Polypile, c.Polyself, c.Wish,
		c.ArtifactWish, c.Genocide, c.Elbereth, c.PuddingSplit, c.LostAlignment,
		int32(l.Dungeon), int32(l.Level), int32(l.X), int32(l.Y),
	)
	for _, v := range [...]int64{h.Nutrition, h.PrayerTimeout, l.Depth} {
		n += jsonenc.Int64Len(v) - 1
	}
	for _, word := range [...]*string{h.Role, h.Race, h.Alignment} {
		if word != nil {
			n += len(`""`) + len(*word) - len("null")
		}
	}
	return n + len(h.Gender) - trues(h.Polymorphed, h.Swallowed, h.InWater, h.Hiding, h.Invulnerable, h.QuestCompleted,
		h.InvocationDone, h.EnteredGehennom, h.KilledWizard, h.Ascended) +
		moreText("name", h.Name, h.NameHex) + moreText("occupation", h.Occupation, h.OccupationHex) +
		moreText("dungeon_name", l.DungeonName, l.DungeonNameHex)
}

// moreDigits returns how many more digits numbers have than zeros.
func moreDigits(list ...int32) int {
	n := -len(list)
	for _, v := range list {
		n += jsonenc.ShortLen(v)
	}
	return n
}

// trues counts those that are true, which is one byte shorter than false.
func trues(list ...bool) int {
	n := 0
	for _, v := range list {
		if v {
			n++
		}
	}
	return n
}

// moreText returns how many bytes more the member with a text takes than an empty one, with that of its bytes if there
// is one.
func moreText(key, s, asHex string) int {
	var text [64]byte
	n := len(jsonenc.AppendString(text[:0], s)) - len(`""`)
	if asHex != "" {
		n += len(",\n    \"_hex\": \"\"") + len(key) + len(asHex)
	}
	return n
}
