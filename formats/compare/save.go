package compare

import (
	"cmp"
	"context"
	iofs "io/fs"
	"sort"
	"strings"

	"recfs/nodes"
)

// StateOf returns the document of a binary save of a NetHack log: the one in states, a directory of
// documents by tick, that names it (docs/tree/nethack.md sections 5 and 6). The error is
// io/fs.ErrNotExist where there is none.
func StateOf(ctx context.Context, states nodes.Dir, save string) (nodes.Entry, error) {
	n, err := states.Len(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	i := sort.Search(n, func(i int) bool {
		if err != nil {
			return true
		}
		var name string
		name, err = saveOf(ctx, states, i)
		return savesInOrder(name, save) > 0
	}) - 1
	if err != nil {
		return nodes.Entry{}, err
	}
	if i < 0 {
		return nodes.Entry{}, iofs.ErrNotExist
	}
	name, err := saveOf(ctx, states, i)
	if err != nil {
		return nodes.Entry{}, err
	}
	if name != save {
		return nodes.Entry{}, iofs.ErrNotExist
	}
	return states.At(ctx, i)
}

// savesInOrder compares two saves by their turns, which never go back from one tick to the next. The last
// save of a turn has the name of the turn alone, those before it end in .001, .002 and so on.
func savesInOrder(a, b string) int {
	turnA, numberA, earlierA := strings.Cut(a, ".")
	turnB, numberB, earlierB := strings.Cut(b, ".")
	switch {
	case turnA != turnB:
		return cmp.Or(len(turnA)-len(turnB), strings.Compare(turnA, turnB))
	case earlierA && earlierB:
		return strings.Compare(numberA, numberB)
	case earlierA:
		return -1
	case earlierB:
		return 1
	}
	return 0
}

// saveOf returns the save that the i-th state is of.
func saveOf(ctx context.Context, states nodes.Dir, i int) (string, error) {
	e, err := states.At(ctx, i)
	if err != nil {
		return "", err
	}
	if e.File == nil {
		return "", iofs.ErrNotExist
	}
	v, err := readDocument(ctx, e.File)
	return v.member("save").str(), err
}
