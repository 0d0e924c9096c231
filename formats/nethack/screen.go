package nethack

import (
	"cmp"
	"encoding/binary"
)

// A level's map (docs/formats/nethack.md section 7.5): 79 columns of 21 cells.
const (
	mapColumns = 79
	mapRows    = 21
	cellSize   = 8
	mapSize    = mapColumns * mapRows * cellSize
)

// unknownSymbol stands for a number that is not in its table.
const unknownSymbol = "?"

// draw returns the rows of a map of which symbol returns the characters, one each.
func draw(symbol func(x, y int) string) []string {
	rows := make([]string, mapRows)
	for y := range rows {
		var row [mapColumns]byte
		for x := range row {
			row[x] = symbol(x, y)[0]
		}
		rows[y] = string(row[:])
	}
	return rows
}

// cellAt returns what the hero remembers of a place (docs/formats/nethack.md section 15.2).
func cellAt(cells []byte, x, y int) uint32 {
	return binary.LittleEndian.Uint32(cells[(mapRows*x+y)*cellSize:])
}

func backgroundSymbol(cell uint32) string {
	return cmp.Or(names().backgrounds.of(int64(cell>>26)).symbol, unknownSymbol)
}

// drawMap draws what the hero remembers of the shape of a level.
func drawMap(cells []byte, hero *location) []string {
	return draw(func(x, y int) string {
		if hero.at(x, y) {
			return "@"
		}
		return backgroundSymbol(cellAt(cells, x, y))
	})
}

// drawScreen draws all that the hero remembers of a level, and the hero as the monster that he is now.
func drawScreen(cells []byte, hero *location, as int32) []string {
	return draw(func(x, y int) string {
		if hero.at(x, y) {
			return cmp.Or(names().monsters.of(int64(as)).symbol, "@")
		}
		return rememberedSymbol(cellAt(cells, x, y))
	})
}

// rememberedSymbol is the topmost of what the hero remembers of a place.
func rememberedSymbol(cell uint32) string {
	const unseen = 1 << 1
	object, trap := int64(cell>>11&1023), int64(cell>>21&31)
	switch {
	case cell&unseen != 0:
		return "I"
	case object > 0:
		return cmp.Or(names().objects.of(object-1).symbol, unknownSymbol)
	case trap > 0:
		return cmp.Or(names().traps.of(trap).symbol, unknownSymbol)
	}
	return backgroundSymbol(cell)
}

// at reports whether the hero is at a place.
func (l *location) at(x, y int) bool { return int(l.X) == x && int(l.Y) == y }
