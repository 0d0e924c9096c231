package datafile

import (
	"context"
	"fmt"
	"path"
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
	list := func() []fileName {
		names := make([]fileName, 0, 2*typ.Num)
		for i := typ.Start; i < typ.Start+typ.Num; i++ {
			name := t.r.itemNumber(i)
			names = append(names, fileName{name, i}, fileName{name + documentExt, i})
		}
		return names
	}
	items := t.manyFiles(fmt.Sprint("items/", typ.ID), list, func(n fileName) nodes.File {
		switch {
		case path.Ext(n.name) != documentExt:
			return nodes.Bytes(t.r.ItemData(n.i))
		case t.r.Items[n.i].Size > 4*longItemInts:
			return t.HeadText("items", n.i, func(context.Context) (*views.Text, error) {
				doc, key, data, n := t.r.describeLong(n.i)
				return document(0, doc, intsList(key, data, n)), nil
			})
		}
		return nodes.JSON(func(context.Context) (any, error) { return t.r.describeItem(n.i), nil })
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
