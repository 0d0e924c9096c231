package nethack

import (
	"strconv"
	"strings"
)

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
