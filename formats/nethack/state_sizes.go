package nethack

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"recfs/formats/internal/wire"
)

// A stateMeter learns the sizes of the documents of the saves that a rebuilder makes one after the other. Only what a
// diff changes is measured again: what it moves is as long as before.
type stateMeter struct {
	x  *index
	re *rebuilder
	heroReader
	game     game
	heroMore int // bytes more that the hero takes
	buf      []byte

	known bool // the following is, of the save
	place place
	parts parts
	end   int // of them
	rest  int // bytes of the document behind its location, with maps that are blank

	sizes [partKinds]map[string]int32 // of what is shown of parts, by their bytes

	cells   int                       // where the map that was shown begins; 0: none was, or it moved
	escapes int                       // characters of the two maps that are escaped there, without the hero
	escaped [mapSize / cellSize]uint8 // those of each place
}

// What is remembered of the sizes of parts: in a map 50 bytes and the part each, so 180 KiB of each kind at most.
const (
	maxSizes    = 1 << 10
	longestPart = 128 // a pet without a name takes 120
)

// A place is what the rest of a document depends on besides the bytes that are walked through.
type place struct {
	dungeons       int64 // where their list begins
	role           int32
	dungeon, level uint8
}

// newStateMeter returns one for the saves that re will have, which it is to be asked about one after the other.
func newStateMeter(x *index, re *rebuilder) *stateMeter {
	m := &stateMeter{x: x, re: re}
	for kind := range m.sizes {
		m.sizes[kind] = map[string]int32{}
	}
	return m
}

// more returns how many bytes more the document of tick n takes, whose save there is now, than one of which emptyHead is
// all. It is not ok if the document is another one, or has to be made to know it.
func (m *stateMeter) more(n int) (size int, ok bool) {
	if m.x.ticks.backup(n) {
		m.known, m.cells = false, 0
	} else {
		m.follow()
	}
	changed, ok := m.read(m.re, m.x.ticks.backup(n))
	if changed != 0 && ok {
		m.heroMore = m.heroState.more()
	}
	if ok = ok && m.u32(fingerprintAt) == fingerprint43; ok {
		m.readGame(&m.game)
		ok = !m.bad && (m.known && m.place == m.here() || m.measure())
	}
	if m.known = ok; !ok {
		return 0, false
	}
	return m.x.moreHead(n, saveTimezone(m.b)) + m.game.more() + m.heroMore + m.marks() + m.escapes + m.rest, true
}

// here returns where the hero is.
func (m *stateMeter) here() place {
	return place{m.dungeons, m.role, m.heroState.location.Dungeon, m.heroState.location.Level}
}

// emptyRest is how long the rest of a document is with two maps on which there is nothing, and without things.
var emptyRest = sync.OnceValue(func() int {
	rows := slices.Repeat([]string{strings.Repeat(" ", mapColumns)}, mapRows)
	return len((&around{rows, []object{}, &level{}}).appendJSON(appendRows(nil, "map", rows)))
})

// moreLines returns how much longer a list of n things is than an empty one, without the things.
func moreLines(n int) int {
	if n == 0 {
		return 0
	}
	return n*len(",\n    ") + len("\n  ]") - len("[]")
}

// measure measures the rest of a document, if all that it may have is in the save.
func (m *stateMeter) measure() bool {
	m.parts = parts{list: m.parts.list[:0], all: true}
	w := &levelWalk{Cursor: wire.NewCursor(name, m.b, 0), role: m.role, parts: &m.parts}
	_, l := w.read(m.dungeons, &m.heroState.location)
	if l == nil || !m.parts.all {
		return false
	}
	if m.place.role != m.role {
		clear(m.sizes[living])
	}
	m.place, m.end = m.here(), w.Pos()
	cells := int(m.dungeons) + bytes.Index(m.b[m.dungeons:], m.place.magic()) + levelName
	if &l.cells[0] != &m.b[cells] { // the map is drawn from what only looks like a level
		return false
	}
	if cells != m.cells {
		m.cells = cells
		m.countCells(0, mapSize/cellSize)
	}
	return m.sum()
}

// sum adds up the rest of a document.
func (m *stateMeter) sum() bool {
	n := &m.parts.shown
	m.rest = emptyRest() + moreLines(n[carried]) + moreLines(n[living]) + moreLines(n[lying]+n[buried]) + moreLines(n[trapped]) + m.parts.commas
	for i := range m.parts.list {
		p := &m.parts.list[i]
		if p.kind == unread || p.kind == cells || !p.shown {
			continue
		}
		b, sizes := m.b[p.start:p.end], m.sizes[p.kind]
		size, ok := sizes[string(b)]
		if !ok {
			if size, ok = m.sizeOf(p); !ok {
				return false
			}
			if len(b) <= longestPart && len(sizes) < maxSizes {
				sizes[string(b)] = size
			}
		}
		p.size = size
		m.rest += int(size)
	}
	return true
}

// sizeOf returns how long what is shown of a part is now. It is not ok if the part is of another length now.
func (m *stateMeter) sizeOf(p *part) (size int32, ok bool) {
	m.buf, ok = p.append(m.buf[:0], m.re.save, m.place.role)
	return int32(len(m.buf)), ok
}

// magic returns what the level begins with.
func (p *place) magic() []byte { return []byte{'L', 'E', 'V', 'L', p.dungeon, p.level} }

// follow counts again what the patch touched. The rest is not known any more if that may be more than the numbers and
// flags of what is shown.
func (m *stateMeter) follow() {
	p := &m.re.patch
	m.known = m.known && len(p.moves) == 0 && p.size >= m.end
	if end := m.cells + mapSize; p.size < end || len(p.moves) > 0 && p.moves[0].dst < end {
		m.cells = 0
	}
	parts, cells := 0, 0 // up to where they are counted
	for start, end := range p.edits {
		if first, next := max(start-m.cells, 0)/cellSize, (min(end-m.cells, mapSize)+cellSize-1)/cellSize; m.cells > 0 && first < next {
			m.countCells(max(first, cells), next)
			cells = next
		}
		if m.known {
			parts, m.known = m.count(max(start, parts), end)
			m.known = m.known && !m.looksLikeLevel(start, end)
		}
	}
}

// count counts the parts again that have bytes from start to before end, and returns where the last one ends. It is not ok
// if bytes between parts are among them, or a part is of another length now.
func (m *stateMeter) count(start, end int) (counted int, ok bool) {
	list := m.parts.list
	counted = start
	for i := firstPart(list, start); start < min(end, m.end); i++ {
		if i == len(list) || start < int(list[i].start) {
			return start, false
		}
		p := &list[i]
		start = int(p.end)
		if p.kind == unread || p.kind == cells {
			continue
		}
		size, ok := m.sizeOf(p)
		if !ok {
			return start, false
		}
		m.rest += int(size - p.size)
		p.size = size
		counted = start
	}
	return counted, true
}

// firstPart returns the first part that ends behind an offset. Each change of each save asks for one, so it is done without
// a function to compare.
func firstPart(list []part, at int) int {
	i, n := 0, len(list)
	for i < n {
		if mid := (i + n) / 2; int(list[mid].end) <= at {
			i = mid + 1
		} else {
			n = mid
		}
	}
	return i
}

// looksLikeLevel reports whether the bytes from start to before end, or those with some beside them, are what the level
// begins with, in front of it: the map is drawn from the first place that looks like it.
func (m *stateMeter) looksLikeLevel(start, end int) bool {
	magic := m.place.magic()
	start, end = max(start-len(magic)+1, int(m.place.dungeons)), min(end, m.cells-levelName)+len(magic)-1
	return start < end && bytes.Contains(m.re.save[start:end], magic)
}

// countCells counts the characters that are escaped in the cells from first to before next again.
func (m *stateMeter) countCells(first, next int) {
	k := names()
	last, each := uint32(0), k.escapes(0) // most places are like those beside them
	for i := first; i < next; i++ {
		if cell := m.cell(i); cell != last {
			last, each = cell, k.escapes(cell)
		}
		m.escapes += each - int(m.escaped[i])
		m.escaped[i] = uint8(each)
	}
}

func (m *stateMeter) cell(i int) uint32 {
	return binary.LittleEndian.Uint32(m.re.save[m.cells+i*cellSize:])
}

// escapes returns how many characters of a place on the two maps are escaped.
func (k *kinds) escapes(cell uint32) int {
	return escapes(k.background(cell)) + escapes(k.remembered(cell))
}

// escapes returns 1 for a printable character that is escaped in a string.
func escapes(char byte) int {
	if char == '"' || char == '\\' {
		return 1
	}
	return 0
}

// marks returns by how much the hero on the two maps changes the rest.
func (m *stateMeter) marks() int {
	l := &m.heroState.location
	if l.X >= mapColumns || l.Y >= mapRows {
		return 0
	}
	k := names()
	return escapes(heroSymbol) + escapes(k.hero(m.heroState.hero.Monster)) - k.escapes(m.cell(mapRows*int(l.X)+int(l.Y)))
}
