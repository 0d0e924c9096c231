package teehistorian

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"unsafe"

	"recfs/nodes"
)

func (t *tree) loadTable(ctx context.Context, k tableKey) (map[int32][]byte, int64, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	rows, err := r.rows(ctx, k.chunk, k.table)
	cost := int64(0)
	for _, b := range rows {
		cost += int64(cap(b)) + 64
	}
	return rows, cost, stale(err)
}

func (t *tree) loadNames(ctx context.Context, _ struct{}) (*names, int64, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, 0, err
	}
	n := &names{dirs: x.dirs(nodes.SafeName)}
	n.players = sync.OnceValue(func() nodes.Dir { return t.stays(n.dirs) })
	return n, int64(320 * len(n.dirs)), nil
}

// players returns the directory players.
func (t *tree) players(ctx context.Context) (nodes.Dir, error) {
	n, err := t.names.Get(ctx, struct{}{})
	if err != nil {
		return nil, err
	}
	return n.players(), nil
}

// stays returns the directory of the stays with these names.
func (t *tree) stays(dirs []string) nodes.Dir {
	entries := make([]nodes.Entry, 0, len(dirs))
	for i, dir := range dirs {
		entries = append(entries, nodes.Entry{Name: dir, Dir: t.Lazy(func(x *index) nodes.Dir { return t.player(x, int32(i)) })})
	}
	return nodes.List(entries...)
}

func (t *tree) player(x *index, stay int32) nodes.Dir {
	entries := make([]nodes.Entry, tables)
	grows := t.Grows && len(x.stays[stay].names) > 0 // the directory of a stay without a name may get another
	for k, name := range tableNames {
		k := table(k)
		size := int64(len(tableHeads[k])) + x.stays[stay].bytes[k]
		entries[k] = nodes.Entry{Name: name, Grows: grows, File: nodes.Stream(size, func(ctx context.Context) (nodes.Content, error) {
			return t.table(ctx, x, stay, k)
		})}
	}
	return nodes.Unlisted(nodes.List(entries...), nodes.Entry{Name: "path.svg", File: t.pathsSVG(stay)})
}

// table returns the content of a table of a stay.
func (t *tree) table(ctx context.Context, x *index, stay int32, k table) (nodes.Content, error) {
	var chunks []int
	p := nodes.NewPieces(func(ctx context.Context, i int) ([]byte, error) {
		if i == 0 {
			return []byte(tableHeads[k]), nil
		}
		rows, err := t.tables.Get(ctx, tableKey{chunks[i-1], k})
		return rows[stay], err
	})
	p.Add(int64(len(tableHeads[k])))
	s := x.stays[stay]
	for c := int(s.firstChunk); c >= 0 && c <= int(s.lastChunk); c++ {
		list, err := t.active.Get(ctx, c)
		if err != nil {
			return nil, err
		}
		if i, ok := slices.BinarySearchFunc(list, stay, byStay); ok {
			chunks = append(chunks, c)
			p.Add(list[i].bytes[k])
		}
	}
	return p, nil
}

// loadActivity returns what chunk k holds for each stay, in the order of the stays.
func (t *tree) loadActivity(ctx context.Context, k int) ([]activity, int64, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	list, err := readChunkActivity(nil, r.idx.chunks[k].activity)
	return list, int64(cap(list)) * int64(unsafe.Sizeof(activity{})), err
}

func byStay(a activity, stay int32) int { return cmp.Compare(a.stay, stay) }
