package nethack

import (
	"encoding/binary"
	"slices"

	"recfs/formats/internal/jsonenc"
)

// A monster is one on the level, as a save has it (docs/formats/nethack.md section 14).
type monster struct {
	number     int32 // in the table of names; -1: none
	hp, hpMax  int32
	flags      uint32
	looks      uint32 // number of what it looks like
	disguise   uint8  // what that is: 1 a background, 2 an object, 3 a monster; else it has no disguise
	x, y       uint8
	level      uint8
	tame       bool
	named      bool
	carries    bool // a list of objects follows, perhaps an empty one
	shop       bool // it is a shopkeeper with a shop
	name       string
	shopkeeper string // his name
	inventory  []object
}

// extraSizes are the bytes of the extra data of a monster, by its kind: none, priest, minion, pet,
// shopkeeper, vault guard.
var extraSizes = [...]int{0, 6, 1, 35, 2699, 320}

const (
	extraShopkeeper  = 4
	shopkeeperNameAt = 67
	shopkeeperName   = 32
)

// questPersons are the monsters that stand for -1000, -2000 and -3000, the leader, the guardians
// and the nemesis of the hero's quest, by his role (docs/formats/nethack.md section 14).
var questPersons = [3][13]int32{
	{342, 343, 344, 345, 346, 347, 348, 350, 349, 351, 352, 353, 354},
	{367, 368, 369, 370, 371, 372, 373, 375, 374, 377, 378, 379, 380},
	{355, 356, 357, 358, 359, 360, 361, 363, 362, 364, 350, 365, 366},
}

// monsterNumber returns the number of a monster in the table of names, -1 if it has none.
func monsterNumber(number, role int32) int32 {
	if number >= 0 {
		return number
	}
	person := number / -1000
	if number%1000 != 0 || person < 1 || int(person) > len(questPersons) || role < 0 || int(role) >= len(questPersons[0]) {
		return -1
	}
	return questPersons[person-1][role]
}

// monster reads a monster with its name and its extra data, without what it carries.
func (w *levelWalk) monster() monster {
	start := w.Pos()
	w.magic("MON\x00")
	b := w.Bytes(monsterSize - 4)
	if b == nil {
		return monster{}
	}
	field := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at-4:]) }
	m := monster{
		number: monsterNumber(int32(field(8)), w.role), hp: int32(field(16)), hpMax: int32(field(20)), flags: field(72),
		looks: field(68), disguise: b[65-4], x: b[54-4], y: b[55-4], level: b[58-4], tame: b[64-4] != 0, carries: b[83-4] != 0,
	}
	name := w.Bytes(int(uint16(field(4))))
	m.named, m.name = len(name) > 0, w.text(name)
	extra := int(uint16(field(6)))
	if extra >= len(extraSizes) {
		w.Fail("a monster with extra data of kind %d", extra)
		return monster{}
	}
	data := w.Bytes(extraSizes[extra])
	if m.shop = extra == extraShopkeeper && data != nil; m.shop {
		m.shopkeeper = w.text(data[shopkeeperNameAt : shopkeeperNameAt+shopkeeperName])
	}
	if w.keep {
		w.take(w.Pos() - start)
	}
	return m
}

// carrier reads a monster and what it carries.
func (w *levelWalk) carrier() monster {
	m := w.monster()
	if m.carries {
		m.inventory = w.objects(0, false)
	}
	return m
}

// clearFlags are those of the monsterFlags that say something when they are not set.
const clearFlags = 1<<14 | 1<<13

var monsterFlags = []flagWord{
	{31, "female"},
	{30, "invisible"},
	{24, "hidden"},
	{23, "cancelled"},
	{15, "fleeing"},
	{14, "blind"},
	{13, "paralyzed"},
	{12, "asleep"},
	{11, "stunned"},
	{10, "confused"},
	{8, "trapped"},
	{7, "leashed"},
	{4, "shopkeeper"},
	{3, "minion"},
	{2, "guard"},
	{1, "priest"},
}

// attitude says how a monster stands to the hero.
func (m *monster) attitude() string {
	switch {
	case m.tame:
		return "tame"
	case m.flags>>9&1 != 0:
		return "peaceful"
	}
	return "hostile"
}

// kind returns the monster's row in the table of names.
func (m *monster) kind() *kind { return names().monsters.of(int64(m.number)) }

// appendJSON appends a monster (docs/tree/nethack.md section 6a).
func (m *monster) appendJSON(dst []byte) []byte {
	start := len(dst)
	k := m.kind()
	dst = appendPlace(dst, m.x, m.y)
	dst = appendName(dst, "monster", k.name)
	dst = appendName(dst, "symbol", k.symbol)
	dst = appendNumber(dst, "hp", m.hp)
	dst = appendNumber(dst, "hp_max", m.hpMax)
	dst = appendNumber(dst, "level", int32(m.level))
	dst = appendName(dst, "attitude", m.attitude())
	dst = appendFlags(dst, monsterFlags, m.flags^clearFlags, func(f flagWord) string { return f.word })
	if m.named {
		dst = jsonenc.AppendText(dst, "name", m.name)
	}
	if m.shop {
		dst = jsonenc.AppendText(dst, "shopkeeper", m.shopkeeper)
	}
	if tables := []kindTable{names().backgrounds, names().objects, names().monsters}; 1 <= m.disguise && int(m.disguise) <= len(tables) {
		dst = appendName(dst, "disguise", tables[m.disguise-1].of(int64(m.looks)).name)
	}
	if m.carries {
		dst = appendHeld(jsonenc.AppendKey(dst, "inventory"), m.inventory)
	}
	return closeObject(dst, start)
}

// closeObject makes an object of the members that begin at start, each of which has a comma before
// it: the first comma becomes the bracket.
func closeObject(dst []byte, start int) []byte {
	dst[start] = '{'
	return append(dst, '}')
}

// appendName appends a member with a word, null if there is none.
func appendName(dst []byte, key, word string) []byte {
	return jsonenc.AppendIf(jsonenc.AppendKey(dst, key), word != "", word, jsonenc.AppendString)
}

func appendNumber[N ~int | ~int8 | ~int32 | ~int64](dst []byte, key string, n N) []byte {
	return jsonenc.AppendInt(jsonenc.AppendKey(dst, key), n)
}

// appendPlace appends where something is on its level.
func appendPlace(dst []byte, x, y uint8) []byte {
	dst = jsonenc.AppendUint(jsonenc.AppendKey(dst, "x"), x)
	return jsonenc.AppendUint(jsonenc.AppendKey(dst, "y"), y)
}

// A flagWord is the word for a bit.
type flagWord struct {
	bit  int
	word string
}

// appendFlags appends the words for the bits that are set, if one is.
func appendFlags(dst []byte, flags []flagWord, bits uint32, word func(flagWord) string) []byte {
	sep := byte('[')
	for _, f := range flags {
		if bits>>f.bit&1 == 0 {
			continue
		}
		if sep == '[' {
			dst = jsonenc.AppendKey(dst, "flags")
		}
		dst = jsonenc.AppendString(append(dst, sep), word(f))
		sep = ','
	}
	if sep == '[' {
		return dst
	}
	return append(dst, ']')
}

// appendHeld appends objects that a monster or another object has, compact.
func appendHeld(dst []byte, list []object) []byte {
	return jsonenc.AppendList(dst, slices.Values(list), func(dst []byte, o object) []byte { return o.appendRest(dst, len(dst)) })
}
