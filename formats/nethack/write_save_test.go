package nethack

import (
	"encoding/binary"
	"slices"
)

// Saves of NetHack 4.3 as docs/formats/nethack.md sections 7 and 12 to 15 describe them, with as
// much as the tests need.

// heroAt is where the hero begins in a test save: there are neither a string argument nor
// autopickup rules.
const heroAt = 276

func put32(b []byte, at int, v int32) { binary.LittleEndian.PutUint32(b[at:], uint32(v)) }

func u32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }

// listOf returns a list: its magic, how many elements it has, and those.
func listOf(magic string, elements ...[]byte) []byte {
	return slices.Concat([]byte(magic), u32(uint32(len(elements))), slices.Concat(elements...))
}

// heroSave returns a save up to its dungeons, of a Valkyrie at 10, 7 on level 1 of dungeon 0.
func heroSave() []byte {
	b := make([]byte, heroAt+1783+4*4+4+monsterSize)
	put32(b, 0, incarnation43)
	put32(b, fingerprintAt, fingerprint43)
	b[heroAt+216], b[heroAt+217] = 10, 7
	b[heroAt+223] = 1
	copy(b[heroAt+1179:], "Agnes")
	for at, v := range map[int]int32{16: 13, 20: 16, 24: 2, 28: 4, 32: 3, 40: 55, 48: 3, 52: 341, 56: 341, 84: 900, 188: 11} {
		put32(b, heroAt+at, v)
	}
	copy(b[heroAt+1083:], []byte{18, 9, 8, 12, 16, 7})
	return b
}

// dungeonSave returns a whole save up to the pack, which has the levels.
func dungeonSave(pack []byte, levels ...[]byte) []byte {
	dungeon := make([]byte, 55)
	copy(dungeon, "The Dungeons of Doom")
	put32(dungeon, 51, 1)
	return slices.Concat(heroSave(),
		listOf("DGN\x00", dungeon), make([]byte, 52+6), listOf("", make([]byte, 13)), make([]byte, 2), listOf("", make([]byte, 23)),
		listOf("", levels...),
		[]byte("STAT"), u32(0), listOf("", make([]byte, timerSize)), listOf("", make([]byte, lightSize)), pack)
}

// A testLevel is what is on a level of a test save.
type testLevel struct {
	dungeon, level                uint8
	cells                         map[[2]int]uint32
	rooms, monsters, traps        [][]byte
	floor, buried, bills, regions [][]byte
	worms                         []byte
}

func (l testLevel) bytes() []byte {
	cells := make([]byte, mapSize)
	for at, v := range l.cells {
		binary.LittleEndian.PutUint32(cells[(mapRows*at[0]+at[1])*cellSize:], v)
	}
	if l.worms == nil {
		l.worms = make([]byte, 4*worms)
	}
	engraving := slices.Concat(u32(5), []byte{1, 2, 3}, []byte("Elber"), u32(0))
	return slices.Concat([]byte{1}, []byte("LEVL"), []byte{l.dungeon, l.level}, make([]byte, 64), cells,
		make([]byte, 4+5*5+2*8+4+120*2), listOf("RDBT", l.rooms...), listOf("", make([]byte, timerSize)), listOf(""),
		listOf("MCHN", l.monsters...), l.worms, listOf("TRPS", l.traps...),
		listOf("OCHN", l.floor...), listOf("OCHN", l.buried...), listOf("OCHN", l.bills...),
		[]byte("ENGR"), engraving, listOf("", make([]byte, damageSize)), []byte("REGI"), u32(0), listOf("", l.regions...))
}

// A testObject is an object of a test save.
type testObject struct {
	number           uint16
	quantity, corpse int32
	worn, flags      uint32
	x, y             uint8
	spe              int8
	letter, artifact uint8
	name             string
	attached         []byte
	contents         [][]byte // nil: it has none
}

func (o testObject) bytes() []byte {
	b := make([]byte, objectSize)
	copy(b, "OBJ\x00")
	put32(b, 4, int32(len(o.name)))
	put32(b, 12, 10)
	put32(b, 16, o.quantity)
	put32(b, 20, o.corpse)
	put32(b, 32, int32(o.worn))
	put32(b, 36, int32(o.flags))
	binary.LittleEndian.PutUint16(b[40:], o.number)
	b[42], b[43], b[44], b[46], b[47] = o.x, o.y, uint8(o.spe), o.letter, o.artifact
	b = slices.Concat(b, []byte(o.name), o.attached)
	if o.contents != nil {
		b[50] = 1
		b = append(b, listOf("OCHN", o.contents...)...)
	}
	return b
}

// A testMonster is a monster of a test save.
type testMonster struct {
	number   int32
	flags    uint32
	tame     uint8
	disguise uint8
	looks    int32
	name     string
	extra    uint16
	data     []byte   // nil: as many zeros as the extra data has
	carries  [][]byte // nil: it carries nothing
}

// normal has the flags of a monster that can see and move.
const normal = clearFlags

func (m testMonster) bytes() []byte {
	b := make([]byte, monsterSize)
	copy(b, "MON\x00")
	binary.LittleEndian.PutUint16(b[4:], uint16(len(m.name)))
	binary.LittleEndian.PutUint16(b[6:], m.extra)
	put32(b, 8, m.number)
	put32(b, 16, 5)
	put32(b, 20, 6)
	b[54], b[55], b[58], b[64], b[65] = 30, 4, 2, m.tame, m.disguise
	put32(b, 68, m.looks)
	put32(b, 72, int32(m.flags))
	if m.data == nil && int(m.extra) < len(extraSizes) {
		m.data = make([]byte, extraSizes[m.extra])
	}
	b = slices.Concat(b, []byte(m.name), m.data)
	if m.carries != nil {
		b[83] = 1
		b = append(b, listOf("OCHN", m.carries...)...)
	}
	return b
}

// testTrap returns a trap at 5, 6.
func testTrap(bits uint16) []byte {
	b := make([]byte, trapSize)
	b[0], b[1] = 5, 6
	binary.LittleEndian.PutUint16(b[6:], bits)
	return b
}
