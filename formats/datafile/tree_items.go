package datafile

import (
	"context"
	"fmt"
	"strings"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
)

// itemTypes is items/: a directory for each type that has items.
func (v *view) itemTypes() nodes.Dir {
	long := v.files(v.longItem)
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

// What the document of an item with more ints than longItemInts takes is counted: the ints, 12 bytes of JSON for each, 15 as
// they are laid out, and its share of the lists of records of six.
const (
	longItemInts = 8 << 10
	longItemInt  = 4 + 12 + 15 + 4
)

// longItem returns the document of such an item.
func (v *view) longItem(ctx context.Context, i int) ([]byte, error) {
	n := int(v.r.Items[i].Size) / 4
	held, err := formats.Charge(ctx, int64(n)*longItemInt)
	if err != nil {
		return nil, err
	}
	defer held.Free()
	b, err := v.r.describeItem(i).appendTo(make([]byte, 0, 12*n+1<<10))
	if err != nil {
		return nil, err
	}
	return append(nodes.AppendIndented(make([]byte, 0, len(b)*5/4), b), '\n'), nil
}

// itemDir shows the items of a type, raw and decoded.
func (v *view) itemDir(typ ItemType, long func(i int) nodes.File) nodes.Dir {
	entries := make([]nodes.Entry, 0, 2*typ.Num)
	for i := typ.Start; i < typ.Start+typ.Num; i++ {
		name := v.r.itemNumber(i)
		document := nodes.JSON(func(context.Context) (any, error) { return v.r.describeItem(i), nil })
		if v.r.Items[i].Size > 4*longItemInts {
			document = long(i)
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
