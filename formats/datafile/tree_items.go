package datafile

import (
	"context"
	"fmt"
	"strings"

	"recfs/cache"
	"recfs/nodes"
)

// itemTypes is items/: a directory for each type that has items.
func (v *view) itemTypes() nodes.Dir {
	long := newLongTexts(v.cache, v.longItem)
	dirs := cache.NewMemo(v.cache, func(_ context.Context, k int) (nodes.Dir, int64, error) {
		typ := v.r.Types[k]
		return v.itemDir(typ, long), 2 * int64(typ.Num) * entrySize, nil
	})
	var entries []nodes.Entry
	for k, typ := range v.r.Types {
		if typ.Num > 0 {
			dir := nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) { return dirs.Get(ctx, k) })
			entries = append(entries, nodes.Entry{Name: v.r.TypeName(typ.ID), Dir: dir})
		}
	}
	return nodes.List(entries...)
}

// longItemInts is from how many ints on an item has a document whose list is made piece by piece.
const longItemInts = 8 << 10

// longItem is the text of an item with more ints than that.
func (v *view) longItem(_ context.Context, i int) (longText, error) {
	doc, data, n := v.r.describeLong(i)
	return longText{
		document: func(context.Context) (any, error) { return doc, nil }, lists: []longList{intsList(data, n)},
	}, nil
}

// itemDir shows the items of a type, raw and decoded.
func (v *view) itemDir(typ ItemType, long *longTexts) nodes.Dir {
	entries := make([]nodes.Entry, 0, 2*typ.Num)
	for i := typ.Start; i < typ.Start+typ.Num; i++ {
		name := v.r.itemNumber(i)
		document := nodes.JSON(func(context.Context) (any, error) { return v.r.describeItem(i), nil })
		if v.r.Items[i].Size > 4*longItemInts {
			document = long.file(i)
		}
		entries = append(entries,
			nodes.Entry{Name: name, File: nodes.Bytes(v.r.ItemData(i))}, nodes.Entry{Name: name + ".json", File: document})
	}
	return nodes.Alias(nodes.List(entries...), listedItem)
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
func (v *view) dataDir() nodes.Dir {
	return &nodes.Series{
		Width: numberWidth, N: len(v.r.Data), File: func(n int64) nodes.File { return v.dataFile(int(n)) },
	}
}
