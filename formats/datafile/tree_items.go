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
	list := func() []nodes.FileName {
		names := make([]nodes.FileName, 0, 2*typ.Num)
		for i := typ.Start; i < typ.Start+typ.Num; i++ {
			name := t.r.itemNumber(i)
			names = append(names, nodes.FileName{Name: name, I: i}, nodes.FileName{Name: name + documentExt, I: i})
		}
		return names
	}
	items := t.manyFiles(fmt.Sprint("items/", typ.ID), list, func(n nodes.FileName) nodes.File {
		switch {
		case path.Ext(n.Name) != documentExt:
			return nodes.Bytes(t.r.ItemData(n.I))
		case t.r.Items[n.I].Size > 4*longItemInts:
			return t.HeadText("items", n.I, func(context.Context) (*views.Text, error) {
				doc, key, data, n := t.r.describeLong(n.I)
				return document(0, doc, intsList(key, data, n)), nil
			})
		}
		return views.JSON(func(context.Context) (any, error) { return t.r.describeItem(n.I), nil })
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
