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

// A levelWalk goes from the dungeons of a save to the end of the hero's pack
// (docs/formats/nethack.md section 12). As the parts have no lengths, there is no other way to what
// follows the first level, nor to learn that the save is sound. The first damaged part makes it
// fail.
type levelWalk struct {
	*wire.Cursor
	role  int32 // of the hero, which numbers the persons of the quest
	keep  bool  // what is read now is shown
	shown int   // bytes of what was kept
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

// each calls read for every element of a list, until one is damaged.
func (w *levelWalk) each(magic string, read func()) {
	w.magic(magic)
	for n := w.count(); n > 0 && w.Err() == nil; n-- {
		read()
	}
}

// take says that n bytes are shown, and fails if those are too many.
func (w *levelWalk) take(n int) {
	if w.shown += n; w.shown > maxShown {
		w.Fail("more than %d bytes in the pack and on the level", maxShown)
	}
}

// text returns the string in b up to its NUL, if it is shown.
func (w *levelWalk) text(b []byte) string {
	if !w.keep {
		return ""
	}
	return cutNUL(b)
}

// cutNUL returns the string in b up to its NUL.
func cutNUL(b []byte) string { return string(cutText(b)) }

// cutText returns b up to its NUL.
func cutText(b []byte) []byte {
	b, _, _ = bytes.Cut(b, []byte{0})
	return b
}
