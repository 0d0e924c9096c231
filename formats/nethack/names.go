package nethack

import (
	_ "embed" // for the tables
	"strings"
	"sync"
)

// The names of what saves number (docs/formats/nethack.md section 15.3): tab-separated, the columns
// in the first line, then a row for each number. "number", "name" and "symbol" are in all of them
// but artifacts.tsv, which has no symbols.
var (
	//go:embed names/objects.tsv
	objectsTable string
	//go:embed names/monsters.tsv
	monstersTable string
	//go:embed names/traps.tsv
	trapsTable string
	//go:embed names/backgrounds.tsv
	backgroundsTable string
	//go:embed names/artifacts.tsv
	artifactsTable string
)

// A kind is what a number in a save stands for.
type kind struct {
	name   string // "": it has none
	symbol string // its character on the screen; "": not in the table
	class  string // of an object
	spe    string // of an object: the key of what its byte 44 means; "": nothing to show
}

// A kindTable has the kinds by number.
type kindTable []kind

// of returns the kind of a number, the zero kind if it is not in the table.
func (t kindTable) of(n int64) *kind {
	if n < 0 || n >= int64(len(t)) {
		return &kind{}
	}
	return &t[n]
}

// kinds are all tables.
type kinds struct {
	objects, monsters, traps, backgrounds, artifacts kindTable

	symbols symbols
}

// names reads the tables once.
var names = sync.OnceValue(func() *kinds {
	k := &kinds{
		objects: readKinds(objectsTable), monsters: readKinds(monstersTable), traps: readKinds(trapsTable),
		backgrounds: readKinds(backgroundsTable), artifacts: readKinds(artifactsTable),
	}
	k.symbols = k.readSymbols()
	return k
})

// readKinds reads a table whose rows are numbered one after the other from 0 or 1 on.
func readKinds(table string) kindTable {
	head, rows, _ := strings.Cut(table, "\n")
	column := map[string]int{}
	for i, name := range strings.Split(head, "\t") {
		column[name] = i
	}
	var kinds kindTable
	for row := range strings.Lines(rows) {
		cells := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		cell := func(name string) string {
			if i, ok := column[name]; ok && i < len(cells) {
				return cells[i]
			}
			return ""
		}
		if len(kinds) == 0 && cell("number") == "1" {
			kinds = append(kinds, kind{}) // nothing has number 0
		}
		kinds = append(kinds, kind{name: cell("name"), symbol: cell("symbol"), class: cell("class"), spe: cell("spe")})
	}
	return kinds
}

// unknownSymbol stands for a number that is not in its table.
const unknownSymbol = '?'

// Numbers that a cell may have.
const (
	backgroundNumbers = 1 << 6
	objectNumbers     = 1 << 10
	trapNumbers       = 1 << 5
)

// symbols are the characters that cells stand for, by their numbers.
type symbols struct {
	backgrounds [backgroundNumbers]byte
	objects     [objectNumbers]byte
	traps       [trapNumbers]byte
}

// readSymbols returns those of the tables.
func (k *kinds) readSymbols() (s symbols) {
	fill := func(chars []byte, t kindTable) {
		for n := range chars {
			chars[n] = unknownSymbol
			if k := t.of(int64(n)); k.symbol != "" {
				chars[n] = k.symbol[0]
			}
		}
	}
	fill(s.backgrounds[:], k.backgrounds)
	fill(s.objects[:], k.objects)
	fill(s.traps[:], k.traps)
	return s
}
