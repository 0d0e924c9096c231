package datafile

import (
	"context"
	"fmt"
	"strings"

	"recfs/nodes"
)

// numberWidth is how many digits the numbers of items and data have.
const numberWidth = 5

func (t *tree) itemTypes() nodes.Dir {
	var entries []nodes.Entry
	for _, typ := range t.r.Types {
		if typ.Num > 0 {
			name := t.r.TypeName(typ.ID)
			entries = append(entries, nodes.Entry{Name: name, Dir: t.lazyDir(itemsPrefix + name)})
		}
	}
	return nodes.List(entries...)
}

const itemsPrefix = "items/"

// itemDir shows the items of a type, raw and decoded.
func (t *tree) itemDir(path string) nodes.Dir {
	start, end := t.r.itemsNamed(strings.TrimPrefix(path, itemsPrefix))
	entries := make([]nodes.Entry, 0, 2*(end-start))
	for i := start; i < end; i++ {
		name := t.itemNumber(i)
		entries = append(entries,
			nodes.Entry{Name: name, File: nodes.Bytes(t.r.ItemData(i))},
			nodes.Entry{Name: name + ".json", File: nodes.JSON(func(context.Context) (any, error) {
				return t.r.describeItem(i), nil
			})})
	}
	return nodes.Alias(nodes.List(entries...), func(name string) (string, bool) {
		digits, rest, dotted := strings.Cut(name, ".")
		n, ok := nodes.ParseNumber(digits, numberWidth)
		if !ok {
			return "", false
		}
		name = fmt.Sprintf("%0*d", numberWidth, n)
		if dotted {
			name += "." + rest
		}
		return name, true
	})
}

// itemNumber is the id of item i, with a second number if it is not the first
// of its type and id.
func (t *tree) itemNumber(i int) string {
	name := fmt.Sprintf("%0*d", numberWidth, t.r.Items[i].ID)
	if n := t.r.repeats[i]; n > 0 {
		name += fmt.Sprintf(".%d", n)
	}
	return name
}

func (t *tree) itemPath(i int) string {
	return itemsPrefix + t.r.TypeName(t.r.Items[i].Type) + "/" + t.itemNumber(i)
}

func dataPath(i int) string { return fmt.Sprintf("data/%0*d", numberWidth, i) }
