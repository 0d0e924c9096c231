package nethack

import (
	"slices"
	"strings"

	"recfs/formats/columnar"
)

// The tables of a log and their columns (docs/tree/tables.md section 4).
const (
	ticksTable    = "ticks"
	heroesTable   = "heroes"
	commandsTable = "commands"
)

var ticksColumns = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Optional(columnar.Int32, "turn"), columnar.Optional(columnar.Time, "time"),
	columnar.OneOf("kind", false, "backup", "diff"), columnar.OneOf("diff_format", true, diffFormatNames[1:]...),
	columnar.OneOf("compression", true, compressionNames[:]...), columnar.Optional(columnar.Text, "save"),
	columnar.Required(columnar.Int64, "line", "offset", "line_end"), columnar.Optional(columnar.Int64, "size"),
	columnar.Required(columnar.Int32, "events"),
)

// heroesColumns are those of the table heroes.
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
	columnar.Required(columnar.Int32, "attr_str", "attr_int", "attr_wis", "attr_dex", "attr_con", "attr_cha"),
	columnar.Required(columnar.Int32, strings.Fields("conduct_"+strings.ReplaceAll(conductKeys, " ", " conduct_"))...),
	columnar.Required(columnar.Int32, "dungeon"),
	columnar.Optional(columnar.Text, "dungeon_name"),
	columnar.Required(columnar.Int32, "dungeon_level", "depth", "x", "y"),
)

var commandsColumns = slices.Concat(
	columnar.Optional(columnar.Int64, "tick"), columnar.Optional(columnar.Int32, "turn"), columnar.Optional(columnar.Time, "time"),
	columnar.Required(columnar.Int64, "offset"), columnar.Required(columnar.Text, "command"),
	columnar.Optional(columnar.Text, "direction"), columnar.Optional(columnar.Int32, "x", "y"),
	columnar.Optional(columnar.Text, "item", "text", "spell"), columnar.Optional(columnar.Int32, "limit", "key_code"),
	columnar.Required(columnar.Text, "answers"),
)

// addTime adds the time of a clock, null outside the years that utc has.
func addTime(b *columnar.Batch, clock uint64, tz int32) {
	micros, ok := utcMicros(clock, tz)
	columnar.AddIf(b, ok, b.Int64, micros)
}

// notYet is the number of events of a tick that is only counted.
const notYet = -1

// tickRow adds tick n, in a timezone.
func tickRow(b *columnar.Batch, n int, t tick, zone int32, events int) {
	b.Int64(int64(n))
	addTurn(b, t.turn)
	addTime(b, t.clock, zone)
	b.Word(wordOf(!t.backup))
	columnar.AddIf(b, t.format != noDiff, b.Word, int(t.format)-1)
	b.Word(int(t.comp))
	switch {
	case t.lost():
		b.Null()
	case events == notYet:
		b.LaterText(saveNameLen(t.turn, t.nth))
	default:
		b.Text(t.saveName())
	}
	b.Int64(int64(t.line))
	b.Int64(t.off)
	b.Int64(t.end)
	columnar.AddIf(b, !t.lost(), b.Int64, int64(t.size))
	if events == notYet {
		b.Later()
	} else {
		b.Int32(int32(events))
	}
}

func wordOf(second bool) int {
	if second {
		return 1
	}
	return 0
}

func addTurn(b *columnar.Batch, turn int32) { columnar.AddIf(b, turn >= 0, b.Int32, turn) }

// heroRow adds the hero of tick n, in a timezone.
func heroRow(b *columnar.Batch, n int, t tick, zone int32, d *heroState) {
	h, a, l := &d.hero, &d.attributes, &d.location
	b.Int64(int64(n))
	b.Int32(t.turn)
	addTime(b, t.clock, zone)
	b.Text(h.Name)
	columnar.AddOptional(b, h.Role, b.Text)
	columnar.AddOptional(b, h.Race, b.Text)
	b.Text(h.Gender)
	columnar.AddOptional(b, h.Alignment, b.Text)
	addNumbers(b, h)
	b.Text(h.Occupation)
	b.Int32s(int32(a.Str), int32(a.Int), int32(a.Wis), int32(a.Dex), int32(a.Con), int32(a.Cha))
	b.Int32s(d.conducts[:]...)
	b.Int32(int32(l.Dungeon))
	b.Text(l.DungeonName)
	b.Int32s(int32(l.Level), l.depth32(), int32(l.X), int32(l.Y))
}

// addNumbers adds the numbers and flags of the hero.
func addNumbers(b *columnar.Batch, h *hero) {
	b.Int32s(h.HP, h.HPMax, h.Power, h.PowerMax, h.Level, h.LevelMax, h.Experience)
	b.Bool(h.Polymorphed)
	b.Int32s(h.Monster, h.MonsterHP, h.MonsterHPMax, int32(h.Nutrition), h.Hunger, int32(h.PrayerTimeout),
		h.AlignmentRecord, int32(h.Luck), int32(h.LuckBonus))
	b.Bools(h.Swallowed, h.InWater, h.Hiding, h.Invulnerable, h.QuestCompleted, h.InvocationDone, h.EnteredGehennom,
		h.KilledWizard, h.Ascended)
}

// A commandContext is what is known of a command besides its lines.
type commandContext struct {
	tick    int   // -1: it is pending
	turn    int32 // of the tick before the command, -1: it is lost, or there is none
	zone    int32
	answers []byte // a list as JSON
}

// firstCommandField is the first column that is a field of a command.
const firstCommandField = 4

// commandRow adds a command.
func commandRow(b *columnar.Batch, e *event, c *commandContext) {
	columnar.AddIf(b, c.tick >= 0, b.Int64, int64(c.tick))
	addTurn(b, c.turn)
	if e.timed {
		addTime(b, e.clock, c.zone)
	} else {
		b.Null()
	}
	b.Int64(e.off)
	next := firstCommandField
	for i := range e.fields { // in the order of the columns
		first := next
		for commandsColumns[next].Name != e.fields[i].key {
			next++
		}
		b.Nulls(next - first)
		addField(b, &e.fields[i])
		next++
	}
	b.Nulls(len(commandsColumns) - 1 - next)
	b.JSON(c.answers)
}

// addField adds a field.
func addField(b *columnar.Batch, f *field) {
	if f.text != nil {
		b.Bytes(f.text)
		return
	}
	b.FitInt32(f.number)
}
