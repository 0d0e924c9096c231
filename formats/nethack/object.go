package nethack

import (
	"encoding/binary"

	"recfs/formats/internal/jsonenc"
)

// objectSize is how many bytes an object takes without its name (docs/formats/nethack.md section
// 13).
const objectSize = 51

// An object is a thing, or several alike, as a save has it.
type object struct {
	weight, quantity int32
	corpse           int32 // kind of monster of a corpse, egg, tin, statue or figurine; -1: none
	worn, flags      uint32
	number           uint16
	x, y             uint8
	spe              int8 // enchantment, charges, or something of the kind's own
	letter, artifact uint8
	buried           bool
	named, filled    bool // it has a name; a list of contents, perhaps an empty one
	name             string
	contents         []object
}

// objects reads a list of objects, of things in depth others, that are buried or not.
func (w *levelWalk) objects(depth int, buried bool) []object {
	if depth > maxDepth {
		w.Fail("an object in more than %d others", maxDepth)
		return nil
	}
	list := []object{}
	w.each("OCHN", func() {
		o := w.object()
		if o.filled {
			o.contents = w.objects(depth+1, false)
		}
		if w.keep {
			o.buried = buried
			list = append(list, o)
		}
	})
	return list
}

// object reads an object with its name and its attachment, without its contents.
func (w *levelWalk) object() object {
	start := w.Pos()
	w.magic("OBJ\x00")
	b := w.Bytes(objectSize - 4)
	if b == nil {
		return object{}
	}
	field := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at-4:]) }
	o := object{
		weight: int32(field(12)), quantity: int32(field(16)), corpse: int32(field(20)), worn: field(32), flags: field(36),
		number: uint16(field(40)), x: b[42-4], y: b[43-4], spe: int8(b[44-4]), letter: b[46-4], artifact: b[47-4],
		filled: b[50-4] != 0,
	}
	name := w.Bytes(int(int32(field(4))))
	o.named, o.name = len(name) > 0, w.text(name)
	if w.keep {
		w.take(w.Pos() - start)
	}
	w.attachment(o.flags >> 9 & 3)
	return o
}

// attachment skips what is attached to an object: a monster that died, or the id of one.
func (w *levelWalk) attachment(kind uint32) {
	switch kind {
	case 1:
		keep := w.keep
		w.keep = false
		w.monster()
		w.keep = keep
	case 2:
		w.Bytes(4)
	case 3:
		w.Fail("an attachment of kind 3")
	}
}

const trappedBit = 16 // of an object: a weapon is poisoned

var (
	objectFlags = []flagWord{
		{29, "unpaid"},
		{28, "no_charge"},
		{19, "erodeproof"},
		{18, "locked"},
		{17, "broken"},
		{trappedBit, "trapped"},
		{12, "lit"},
		{11, "greased"},
		{7, "thrown"},
		{5, "dropped"},
	}
	slots = []string{
		"body", "cloak", "helmet", "shield", "gloves", "boots", "shirt", "amulet", "left_ring", "right_ring", "eyes",
		"weapon", "quiver", "offhand", "saddle",
	}
)

// slot returns where an object is worn, "" if that is not known.
func (o *object) slot() string {
	for i, slot := range slots {
		if o.worn>>i&1 != 0 {
			return slot
		}
	}
	return ""
}

// buc says whether an object is blessed, uncursed or cursed.
func (o *object) buc() string {
	switch {
	case o.flags>>31&1 != 0:
		return "cursed"
	case o.flags>>30&1 != 0:
		return "blessed"
	}
	return "uncursed"
}

// ofMonster reports whether a kind of objects is made of a kind of monsters: figurines, corpses,
// eggs, tins and statues.
func ofMonster(number uint16) bool {
	switch number {
	case 216, 240, 241, 267, 427:
		return true
	}
	return false
}

// appendCarried appends an object of the hero's pack, which has a letter.
func (o *object) appendCarried(dst []byte) []byte {
	start := len(dst)
	letter := []byte{o.letter}
	return o.appendRest(jsonenc.AppendText(dst, "letter", cutNUL(letter)), start)
}

// appendLying appends an object that lies on the floor or below it.
func (o *object) appendLying(dst []byte) []byte {
	start := len(dst)
	dst = appendPlace(dst, o.x, o.y)
	if o.buried {
		dst = jsonenc.AppendBool(jsonenc.AppendKey(dst, "buried"), true)
	}
	return o.appendRest(dst, start)
}

// appendRest appends what all objects have to the members that begin at start, and makes an object
// of them (docs/tree/nethack.md section 6a).
func (o *object) appendRest(dst []byte, start int) []byte {
	k := names().objects.of(int64(o.number))
	class := k.class
	if k.name == "" {
		class = ""
	}
	dst = appendNumber(dst, "quantity", o.quantity)
	dst = appendName(dst, "object", k.name)
	dst = appendName(dst, "class", class)
	dst = appendName(dst, "buc", o.buc())
	dst = jsonenc.AppendBool(jsonenc.AppendKey(dst, "buc_known"), o.flags>>25&1 != 0)
	dst = jsonenc.AppendBool(jsonenc.AppendKey(dst, "known"), o.flags>>27&1 != 0)
	dst = appendNumber(dst, "weight", o.weight)
	if k.name != "" && k.spe != "" {
		dst = appendNumber(dst, k.spe, o.spe)
	}
	return closeObject(o.appendOptional(dst, class), start)
}

// appendOptional appends what only some objects have.
func (o *object) appendOptional(dst []byte, class string) []byte {
	for _, count := range []struct {
		key   string
		value uint32
	}{
		{"recharged", o.flags >> 13 & 7},
		{"eroded", o.flags >> 22 & 3},
		{"eroded2", o.flags >> 20 & 3},
	} {
		if count.value != 0 {
			dst = appendNumber(dst, count.key, int32(count.value))
		}
	}
	dst = appendFlags(dst, objectFlags, o.flags, func(f flagWord) string {
		if f.bit == trappedBit && class == "weapon" {
			return "poisoned"
		}
		return f.word
	})
	if o.artifact != 0 {
		dst = appendName(dst, "artifact", names().artifacts.of(int64(o.artifact)).name)
	}
	if ofMonster(o.number) && o.corpse >= 0 {
		dst = appendName(dst, "monster", names().monsters.of(int64(o.corpse)).name)
	}
	if o.named {
		dst = jsonenc.AppendText(dst, "name", o.name)
	}
	if o.worn != 0 {
		dst = appendName(dst, "worn", o.slot())
	}
	if o.filled {
		dst = appendHeld(jsonenc.AppendKey(dst, "contents"), o.contents)
	}
	return dst
}
