package nethack

import (
	"encoding/binary"

	"recfs/formats/internal/jsonenc"
	"recfs/formats/internal/wire"
)

// fingerprint43 is the field at fingerprintAt in the saves of NetHack 4.3: how many artifacts,
// objects and monsters the game has. The tables of names and docs/formats/nethack.md sections 12 to
// 15 hold for it alone.
const (
	fingerprintAt = 8
	fingerprint43 = 0x211b017d
)

// A level is the hero's level with all that is on it, known to the hero or not.
type level struct {
	cells    []byte // of the map; part of the save
	monsters []monster
	objects  []object // on the floor, then buried
	traps    []trap
}

// A trap is one on the level (docs/formats/nethack.md section 15.1).
type trap struct {
	x, y         uint8
	number       uint8
	seen, byHero bool
}

// readLevel walks through a save from offset dungeons on. It returns what the hero carries, nil in
// a damaged save, and his level, nil if it is not in the save.
func readLevel(save []byte, dungeons int64, at *location, role int32) (pack []object, here *level) {
	w := &levelWalk{Cursor: wire.NewCursor(name, save, 0), role: role}
	w.Skip(int(dungeons))
	w.magic("DGN\x00")
	w.skipList(55)
	w.Skip(52 + 6) // special levels, castle tune
	w.skipList(13) // branches
	w.Skip(2)
	w.skipList(23) // special levels
	for n := w.count(); n > 0 && w.Err() == nil; n-- {
		if l := w.level(at, here == nil); l != nil {
			here = l
		}
	}
	w.magic("STAT")
	w.Skip(4)
	w.skipList(timerSize)
	w.skipList(lightSize)
	w.keep = true
	pack = w.objects(0, false)
	if w.Err() != nil {
		return nil, nil
	}
	return pack, here
}

// Bytes of what stands in lists, and of parts of a level.
const (
	timerSize  = 16
	lightSize  = 14
	damageSize = 11
	trapSize   = 10
	roomSize   = 10
	worms      = 31
)

// level reads a level, and returns it if it is the hero's and asked for.
func (w *levelWalk) level(at *location, wanted bool) *level {
	w.Skip(1) // ledger number
	w.magic("LEVL")
	dungeon, number := w.U8(), w.U8()
	w.Skip(64) // name
	w.keep = wanted && dungeon == at.Dungeon && number == at.Level
	l := &level{cells: w.Bytes(mapSize)}
	w.Skip(4 + 5*5 + 2*8 + 4 + 120*2) // turn, stairs, areas, flags, doors
	w.each("RDBT", func() { w.room(0) })
	w.skipList(timerSize)
	w.skipList(lightSize)
	w.each("MCHN", func() {
		if m := w.carrier(); w.keep {
			l.monsters = append(l.monsters, m)
		}
	})
	w.longWorms()
	w.each("TRPS", func() {
		if t := w.trap(); w.keep {
			l.traps = append(l.traps, t)
		}
	})
	l.objects = w.objects(0, false)
	l.objects = append(l.objects, w.objects(0, true)...)
	keep := w.keep
	w.keep = false
	w.endOfLevel()
	if !keep || w.Err() != nil {
		return nil
	}
	return l
}

// endOfLevel skips what is on a level and not shown.
func (w *levelWalk) endOfLevel() {
	w.objects(0, false) // used up in a shop and not paid
	w.magic("ENGR")
	for n := w.count(); n > 0; n = w.count() {
		w.Skip(3)
		w.Skip(n)
	}
	w.skipList(damageSize)
	w.magic("REGI")
	w.Skip(4)
	for n := w.count(); n > 0 && w.Err() == nil; n-- {
		w.region()
	}
}

// room skips a room and the rooms in it.
func (w *levelWalk) room(depth int) {
	if depth > maxDepth {
		w.Fail("a room in more than %d others", maxDepth)
		return
	}
	b := w.Bytes(roomSize)
	if b == nil {
		return
	}
	for n := w.notNegative(int(int8(b[8]))); n > 0 && w.Err() == nil; n-- {
		w.room(depth + 1)
	}
}

// longWorms skips the segments of long worms.
func (w *levelWalk) longWorms() {
	for range worms {
		if n := w.count(); n > 0 {
			w.skipElements(n, 2)
			w.Skip(4)
		}
	}
}

func (w *levelWalk) trap() trap {
	b := w.Bytes(trapSize)
	if b == nil {
		return trap{}
	}
	if w.keep {
		w.take(trapSize)
	}
	bits := binary.LittleEndian.Uint16(b[6:])
	return trap{x: b[0], y: b[1], number: uint8(bits >> 11), seen: bits>>10&1 != 0, byHero: bits>>8&1 != 0}
}

// region skips a cloud of gas.
func (w *levelWalk) region() {
	w.Skip(16)
	w.skipElements(w.short(), 4)
	w.Skip(14)
	monsters := w.short()
	w.Skip(3)
	w.skipElements(monsters, 4)
	texts := int(w.U16())
	texts += int(w.U16())
	w.Skip(texts)
}

// appendJSON appends a trap (docs/tree/nethack.md section 6a).
func (t *trap) appendJSON(dst []byte) []byte {
	start := len(dst)
	dst = appendPlace(dst, t.x, t.y)
	dst = appendName(dst, "trap", names().traps.of(int64(t.number)).name)
	dst = jsonenc.AppendBool(jsonenc.AppendKey(dst, "seen"), t.seen)
	if t.byHero {
		dst = jsonenc.AppendBool(jsonenc.AppendKey(dst, "by_hero"), true)
	}
	return closeObject(dst, start)
}
