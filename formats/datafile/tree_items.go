package datafile

import (
	"context"
	"fmt"
	"strings"

	"recfs/formats/views"
	"recfs/nodes"
)

// itemTypes is items/: a directory for each type that has items.
func (t *tree) itemTypes() nodes.Dir {
	var entries []nodes.Entry
	for _, typ := range t.r.Types {
		if typ.Num > 0 {
			entries = append(entries, nodes.Entry{Name: t.r.TypeName(typ.ID), Dir: t.itemDir(typ)})
		}
	}
	return nodes.List(entries...)
}

// itemDir shows the items of a type, raw and decoded.
func (t *tree) itemDir(typ ItemType) nodes.Dir {
	items := t.dir(fmt.Sprint("items/", typ.ID), func(context.Context) ([]nodes.Entry, error) {
		entries := make([]nodes.Entry, 0, 2*typ.Num)
		for i := typ.Start; i < typ.Start+typ.Num; i++ {
			name := t.r.itemNumber(i)
			f := nodes.JSON(func(context.Context) (any, error) { return t.r.describeItem(i), nil })
			if t.r.Items[i].Size > 4*longItemInts {
				f = t.HeadText("items", i, func(context.Context) (*views.Text, error) {
					doc, key, data, n := t.r.describeLong(i)
					return document(0, doc, intsList(key, data, n)), nil
				})
			}
			entries = append(entries,
				nodes.Entry{Name: name, File: nodes.Bytes(t.r.ItemData(i))}, nodes.Entry{Name: name + ".json", File: f})
		}
		return entries, nil
	})
	return nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
		dir, err := nodes.Resolve(ctx, items)
		return nodes.Alias(dir, listedItem), err
	})
}

// listedItem is the listed name of an item whose number has fewer zeros.
func listedItem(name string) (string, bool) {
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
}

// dataDir is data/.
func (t *tree) dataDir() nodes.Dir {
	return &nodes.Series{
		Width: numberWidth, N: len(t.r.Data), File: func(n int64) nodes.File { return t.dataFile(int(n)) },
	}
}
