package nethack

import (
	"slices"

	"recfs/formats/columnar"
)

// heroesColumns are those of the table heroes (docs/tree/tables.md section 4).
var heroesColumns = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Required(columnar.Int32, "turn"), columnar.Optional(columnar.Time, "time"),
	columnar.Optional(columnar.Text, "name", "role", "race", "gender", "alignment"),
	columnar.Required(columnar.Int32, "hp", "hp_max", "power", "power_max", "level", "level_max", "experience"),
	columnar.Required(columnar.Bool, "polymorphed"),
	columnar.Required(columnar.Int32, "monster", "monster_hp", "monster_hp_max", "nutrition", "hunger", "prayer_timeout",
		"alignment_record", "luck", "luck_bonus"),
	columnar.Required(columnar.Bool, "swallowed", "in_water", "hiding", "invulnerable", "quest_completed",
		"invocation_done", "entered_gehennom", "killed_wizard", "ascended"),
	columnar.Optional(columnar.Text, "occupation"),
	columnar.Required(columnar.Int32, "attr_str", "attr_int", "attr_wis", "attr_dex", "attr_con", "attr_cha",
		"conduct_food", "conduct_vegan", "conduct_vegetarian", "conduct_gnostic", "conduct_weapon_hit",
		"conduct_killer", "conduct_illiterate", "conduct_polypile", "conduct_polyself", "conduct_wish",
		"conduct_artifact_wish", "conduct_genocide", "conduct_elbereth", "conduct_pudding_split",
		"conduct_lost_alignment", "dungeon"),
	columnar.Optional(columnar.Text, "dungeon_name"),
	columnar.Required(columnar.Int32, "dungeon_level", "depth", "x", "y"),
)

// A heroSet is some of them.
type heroSet uint64

const allColumns heroSet = 1<<64 - 1

// columnsOf returns the columns from one to another one.
func columnsOf(first, last string) heroSet {
	from, to := heroColumn(first), heroColumn(last)
	return allColumns >> (63 - to + from) << from
}

var occupationColumn = heroColumn("occupation")

func heroColumn(name string) int {
	return slices.IndexFunc(heroesColumns, func(c columnar.Column) bool { return c.Name == name })
}

// The columns of the parts of a hero, each of which is read at once.
var (
	heroNumbers    = columnsOf("hp", "ascended")
	heroOccupation = heroSet(1) << occupationColumn
	heroHabits     = columnsOf("attr_str", "conduct_lost_alignment")

	// Numbers that may be stored so that they depend on the turn.
	heroCounters = columnsOf("nutrition", "nutrition") | columnsOf("prayer_timeout", "prayer_timeout")

	// What is counted without the rest of the hero: the numbers that heroPlaces has, flags, of which nothing is counted, and
	// the text that changes most often.
	heroAlone = heroNumbers | heroHabits | heroOccupation | columnsOf("x", "y")
)

// How long the hero is in a save, and what stands between the causes of death that follow him and the dungeons: his last
// inventory number, and he as a monster.
const (
	heroSize      = 1783
	heroAsMonster = 4 + monsterSize
)

// A heroNumber is where a number stands in the hero.
type heroNumber struct {
	at   int64
	kind numberKind
}

type numberKind uint8

const (
	noNumber numberKind = iota
	wholeWord
	counterWord
	signedByte
	plainByte
)

// heroPlaces are the numbers that stand by themselves in the hero, by their columns.
var heroPlaces = func() (places [64]heroNumber) {
	for _, n := range []struct {
		first string // column, behind which those of the further ones stand
		kind  numberKind
		at    []int64
	}{
		{"hp", wholeWord, []int64{16, 20, 24, 28, 32, 48, 40}},
		{"monster", wholeWord, []int64{56, 60, 64}},
		{"nutrition", counterWord, []int64{84}},
		{"hunger", wholeWord, []int64{88}},
		{"prayer_timeout", counterWord, []int64{152}},
		{"alignment_record", wholeWord, []int64{136}},
		{"luck", signedByte, []int64{231, 232}},
		{"attr_str", signedByte, []int64{1083, 1084, 1085, 1086, 1087, 1088}},
		{"conduct_food", wholeWord, []int64{1211, 1219, 1227, 1235, 1243, 1251, 1259, 1267, 1275, 1283, 1291, 1299, 1307, 1315, 1323}},
		{"x", plainByte, []int64{216, 217}},
	} {
		for i, at := range n.at {
			places[heroColumn(n.first)+i] = heroNumber{at, n.kind}
		}
	}
	return places
}()

// heroBytes are the columns that depend on each byte of the hero.
var heroBytes = func() (columns [heroSize]heroSet) {
	depend := func(at, size int64, set heroSet) {
		for i := at; i < at+size; i++ {
			columns[i] |= set
		}
	}
	for column, n := range heroPlaces {
		switch n.kind {
		case wholeWord, counterWord:
			depend(n.at, 4, 1<<column)
		case signedByte, plainByte:
			depend(n.at, 1, 1<<column)
		}
	}
	depend(8, 4, columnsOf("gender", "gender")|columnsOf("swallowed", "invulnerable"))
	depend(12, 4, columnsOf("quest_completed", "ascended"))
	depend(52, 8, columnsOf("polymorphed", "polymorphed")) // what he is by birth, and now
	depend(188, 4, columnsOf("role", "role"))
	depend(192, 4, columnsOf("race", "race"))
	depend(222, 2, columnsOf("dungeon", "depth"))
	depend(228, 1, columnsOf("alignment", "alignment"))
	depend(780, 256, heroOccupation)
	depend(1179, 32, columnsOf("name", "name"))
	return columns
}()

// A heroFollower finds what changes of the hero in the saves that a rebuilder makes one after the other.
type heroFollower struct {
	fields       // of the save
	current bool // there is a hero in it
}

// follow goes on to the save that there is now, and returns the columns that may be others than in the one before, but for
// counters; turned reports whether the turn is another one, on which these depend. Where all columns may be others the
// hero is to be looked for, and is read from the beginning.
func (h *heroFollower) follow(re *rebuilder, backup bool) (changed heroSet, turned bool) {
	changed = allColumns
	if h.current && !backup {
		changed = h.touched(&re.patch)
	}
	turn := saveTurn(re.save)
	turned = turn != h.moves
	if changed == allColumns {
		h.fields = fields{}
	}
	h.b, h.moves = re.save, turn
	h.bad = h.u32(0) != incarnation43
	return changed, turned
}

// touched returns the columns that a patch may have changed.
func (h *heroFollower) touched(p *patch) (columns heroSet) {
	end := int(h.end)
	if p.size < end || len(p.moves) > 0 && p.moves[0].dst < end {
		return allColumns
	}
	for i := range p.literals {
		l := &p.literals[i]
		if l.dst >= end {
			break
		}
		columns |= h.columnsIn(l.dst, l.dst+l.n)
	}
	for _, a := range p.adjusts {
		if a.dst >= end {
			break
		}
		columns |= h.columnsIn(a.dst, a.dst+1)
	}
	return columns
}

// columnsIn returns the columns that depend on the bytes of a save from start to before stop.
func (h *heroFollower) columnsIn(start, stop int) (columns heroSet) {
	you, dungeons := int(h.you), int(h.dungeons)
	switch {
	case stop <= relativeAt, relativeAt < start && stop <= stringAt, dungeons-heroAsMonster <= start && stop <= dungeons:
		return 0
	case start < you:
		return allColumns
	}
	start, stop = start-you, stop-you
	if stop > heroSize {
		return allColumns
	}
	for at := start; at < stop; at++ {
		columns |= heroBytes[at]
	}
	return columns
}
