package nethack

import (
	"bytes"

	"recfs/formats/internal/wire"
)

// Bounds of what is shown of a save.
const (
	maxDepth = 64      // an object in more others, or a room, is not that of a game
	maxShown = 4 << 20 // bytes of the pack and of what is on one level; the largest games have some 100,000
)

// A levelWalk goes from the dungeons of a save to the end of the hero's pack (docs/formats/nethack.md
// section 12). There is no other way to what follows the first level, and none to know that the save is as
// it should be: the parts have no lengths. The first part that is not makes it fail.
type levelWalk struct {
	*wire.Cursor
	role  int32  // of the hero, which numbers the persons of the quest
	keep  bool   // what is read now is shown
	shown int    // bytes of what was kept
	parts *parts // what was read, which is not made then; nil: nobody wants to know
}

// magic reads the four bytes that a part begins with.
func (w *levelWalk) magic(want string) {
	if got := w.Bytes(len(want)); string(got) != want {
		w.Fail("%q instead of %q", got, want)
	}
}

// count reads how many elements follow.
func (w *levelWalk) count() int { return w.notNegative(int(w.I32())) }

// short reads a count of 16 bits.
func (w *levelWalk) short() int { return w.notNegative(int(int16(w.U16()))) }

func (w *levelWalk) notNegative(n int) int {
	if n < 0 {
		w.Fail("a count of %d", n)
		return 0
	}
	return n
}

// skipList skips a list of elements of size bytes.
func (w *levelWalk) skipList(size int) { w.skipElements(w.count(), size) }

func (w *levelWalk) skipElements(n, size int) {
	if n > w.Len()/size {
		w.Fail("%d elements of %d bytes in %d", n, size, w.Len())
		return
	}
	w.Skip(n * size)
}

// Skip goes on behind n bytes of which nothing is shown.
func (w *levelWalk) Skip(n int) {
	start := w.Pos()
	w.Cursor.Skip(n)
	w.note(unread, start, false)
}

// each calls read for every element of a list, until one is not as it should be. It returns how many the list says it has.
func (w *levelWalk) each(magic string, read func()) (n int) {
	w.magic(magic)
	n = w.count()
	for i := 0; i < n && w.Err() == nil; i++ {
		read()
	}
	return n
}

// made reports whether what is read now is kept for who called.
func (w *levelWalk) made() bool { return w.keep && w.parts == nil }

// take says that n bytes are shown, and fails if those are too many.
func (w *levelWalk) take(n int) {
	if w.shown += n; w.shown > maxShown {
		w.Fail("more than %d bytes in the pack and on the level", maxShown)
	}
}

// text returns the string in b up to its NUL, if it is shown.
func (w *levelWalk) text(b []byte) string {
	if !w.made() {
		return ""
	}
	return cutNUL(b)
}

// cutNUL returns the string in b up to its NUL.
func cutNUL(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}

// A partKind says what a part of a save is.
type partKind uint8

const (
	unread  partKind = iota // nothing depends on it
	cells                   // of the map that is shown
	carried                 // an object of the pack
	lying                   // an object on the level
	buried                  // an object below the floor
	held                    // an object that a monster or another object has
	living                  // a monster
	trapped                 // a trap that is shown
	partKinds
)

// A part is what a levelWalk has read at once. Bytes between the parts say where they are.
type part struct {
	start, end int32
	size       int32 // of what is shown of it
	kind       partKind
	shown      bool
	list       bool // of things, which follows: the contents or the inventory
}

// maxParts is how many parts are noted: 16 bytes each, so 256 KiB at most. Large games have some thousands.
const maxParts = 16 << 10

// parts are those of a save, in their order.
type parts struct {
	list []part
	all  bool // there are no more than maxParts

	shown  [partKinds]int
	commas int // between the things that other things have
}

// noteList notes that n things that are shown, or not, are a list of another thing.
func (w *levelWalk) noteList(n int) {
	if w.parts != nil && w.keep {
		w.parts.commas += max(n-1, 0)
	}
}

// note notes the part from start up to here, if somebody wants to know.
func (w *levelWalk) note(kind partKind, start int, list bool) {
	switch {
	case w.parts == nil || start == w.Pos():
		return
	case len(w.parts.list) == maxParts:
		w.parts.all = false
		return
	case !w.keep && (kind == cells || kind == trapped):
		kind = unread
	}
	if w.keep {
		w.parts.shown[kind]++
	}
	w.parts.list = append(w.parts.list, part{start: int32(start), end: int32(w.Pos()), kind: kind, shown: w.keep, list: list})
}
