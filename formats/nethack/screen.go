package nethack

import "encoding/binary"

// A level's map (docs/formats/nethack.md section 7.5): 79 columns of 21 cells.
const (
	mapColumns = 79
	mapRows    = 21
	cellSize   = 8
	mapSize    = mapColumns * mapRows * cellSize
)

// draw returns the rows of a map, parts of one text. symbol returns the character of what the hero
// remembers of a place (docs/formats/nethack.md section 15.2); where he is himself, as is shown.
func draw(cells []byte, hero *location, as byte, symbol func(cell uint32) byte) []string {
	var all [mapRows * mapColumns]byte
	last, char := uint32(0), symbol(0) // most places are like those beside them
	for x := range mapColumns {
		column := cells[x*mapRows*cellSize:][:mapRows*cellSize]
		for y := range mapRows {
			if cell := binary.LittleEndian.Uint32(column[y*cellSize:]); cell != last {
				last, char = cell, symbol(cell)
			}
			all[y*mapColumns+x] = char
		}
	}
	if hero.X < mapColumns && hero.Y < mapRows {
		all[int(hero.Y)*mapColumns+int(hero.X)] = as
	}
	rows, text := make([]string, mapRows), string(all[:])
	for y := range rows {
		rows[y] = text[y*mapColumns:][:mapColumns]
	}
	return rows
}

// background returns the symbol of the shape of the level at a place.
func (k *kinds) background(cell uint32) byte { return k.symbols.backgrounds[cell>>26] }

// heroSymbol stands for the hero, but where he is shown as the monster that he is.
const heroSymbol = '@'

// hero returns the symbol of the monster that the hero is.
func (k *kinds) hero(monster int32) byte {
	if kind := k.monsters.of(int64(monster)); kind.symbol != "" {
		return kind.symbol[0]
	}
	return heroSymbol
}

// drawMap draws what the hero remembers of the shape of a level.
func drawMap(cells []byte, hero *location) []string {
	return draw(cells, hero, heroSymbol, names().background)
}

// drawScreen draws all that the hero remembers of a level, and the hero as the monster that he is
// now.
func drawScreen(cells []byte, hero *location, monster int32) []string {
	return draw(cells, hero, names().hero(monster), names().remembered)
}

// remembered returns the symbol of the topmost of what the hero remembers of a place.
func (k *kinds) remembered(cell uint32) byte {
	const unseen = 1 << 1
	object, trap := cell>>11%objectNumbers, cell>>21%trapNumbers
	switch {
	case cell&unseen != 0:
		return 'I'
	case object > 0:
		return k.symbols.objects[object-1]
	case trap > 0:
		return k.symbols.traps[trap]
	}
	return k.background(cell)
}
