package teehistorian

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/views"
	"recfs/nodes"
)

// headerJSON returns the value of header.json.
func (t *tree) headerJSON(ctx context.Context) (any, error) {
	if err := t.header.charge(ctx, ':', memberCost); err != nil {
		return nil, err
	}
	return formats.HeaderDocument[json.RawMessage]{
		HeaderHead: formats.HeaderHead{Format: name, FormatVersion: t.header.values.version()},
		Source:     t.Info(), Header: t.header.appendJSON(nil), Problems: t.header.problems(),
	}, nil
}

// document returns the value of index.json.
func (t *tree) document(_ context.Context, x *index) (views.Document, error) {
	return indexJSON(x, t.header), nil
}

// staysPerPart stays make some 80 KiB of text.
const staysPerPart = 256

// playersJSON returns players.json, with a part for each staysPerPart stays.
func (t *tree) playersJSON(_ context.Context, x *index) (*views.Text, error) {
	list := views.Elements("players", len(x.stays), staysPerPart, func(ctx context.Context, b []byte, i, end int) ([]byte, error) {
		r, err := t.named(ctx)
		for ; i < end && err == nil; i++ {
			b, err = views.AppendElement(b, r.playerEntry(i))
		}
		return b, err
	})
	list.Document = func(context.Context) (any, error) { return map[string][]int{"players": {}}, nil }
	return list.Text(), nil
}

// eventsText returns events.txt, with a part for each group of lines.
func (t *tree) eventsText(_ context.Context, x *index) (*views.Text, error) {
	return &views.Text{N: len(x.lines), Make: func(ctx context.Context, i int, _ any) (views.Part, error) {
		r, err := t.named(ctx)
		if err != nil {
			return views.Part{}, err
		}
		b, whole, err := r.log(ctx, i)
		return views.Part{Bytes: b, Last: !whole}, err
	}}, nil
}

// exports returns the directory export.
func (t *tree) exports(context.Context) (nodes.Dir, error) {
	heat := func(ctx context.Context, r *recording, m *formats.Outline) ([]byte, error) { return r.heat(ctx, m) }
	return nodes.Unlisted(nodes.List(
		nodes.Entry{Name: "events.txt", Grows: t.Grows, File: t.Text("events.txt", 0, t.eventsText)},
		nodes.Entry{Name: "paths.svg", File: t.pathsSVG(noStay)},
	), nodes.Entry{Name: "heat.png", File: t.mapPicture("heat.png", noStay, heat)}), nil
}

// pathsSVG returns paths.svg, or path.svg of a stay.
func (t *tree) pathsSVG(only int32) nodes.File {
	return t.mapPicture("paths.svg", only, func(ctx context.Context, r *recording, m *formats.Outline) ([]byte, error) {
		return r.paths(ctx, m, only)
	})
}

// mapPicture returns a picture that is drawn over the map, if that is at hand. As its size depends
// on the map, it is not kept on disk.
func (t *tree) mapPicture(view string, n int32, draw func(context.Context, *recording, *formats.Outline) ([]byte, error)) nodes.File {
	part := func(ctx context.Context, _ int, _ any) (views.Part, error) {
		r, err := t.named(ctx)
		if err != nil {
			return views.Part{}, err
		}
		m, _ := t.mapFile(ctx)
		if err := ctx.Err(); err != nil { // then m may be nil for that
			return views.Part{}, err
		}
		b, err := draw(ctx, r, m)
		return views.Part{Bytes: b}, stale(err)
	}
	return t.Text(view, int(n), func(context.Context, *index) (*views.Text, error) {
		return &views.Text{N: 1, Make: part}, nil
	})
}

// mapFile returns the map of the recording and its path from there, nil if it is missing or cannot
// be read.
func (t *tree) mapFile(ctx context.Context) (m *formats.Outline, at string) {
	if t.readMap == nil {
		return nil, ""
	}
	file, at := findMap(ctx, t.Beside, t.header)
	if file == nil {
		return nil, ""
	}
	m, err := t.readMap(ctx, file)
	if err != nil {
		return nil, ""
	}
	return m, at
}

// rowTables returns the tables of the recording.
func (t *tree) rowTables() []views.Table[index] {
	list := []views.Table[index]{{Name: "players", Columns: playersColumns, Known: t.stayRows}}
	for n, name := range rowTableNames {
		list = append(list, views.Table[index]{
			Name: name, Columns: rowColumns[n],
			Groups: func(x *index) []columnar.Group { return x.rows[n].Groups() },
			Fill: func(ctx context.Context, x *index, b *columnar.Batch, chunk, end int) error {
				last := x.chunkStart(end)
				return stale(t.of(x).fill(nodes.Until(ctx, last), b, n, chunk, last, t.header.began))
			},
		})
	}
	return append(list, views.Table[index]{Name: "finishes", Columns: finishesColumns, Known: t.finishRows})
}

// stayRows returns the rows of the table players.
func (t *tree) stayRows(ctx context.Context, x *index) (views.Rows, error) {
	r, err := t.named(ctx)
	return views.Rows{N: len(x.stays), Add: func(b *columnar.Batch, i int) { r.stayRow(b, i, t.header.began) }}, err
}

// finishRows returns the rows of the table finishes.
func (t *tree) finishRows(_ context.Context, x *index) (views.Rows, error) {
	return views.Rows{
		N: len(x.finishes), Add: func(b *columnar.Batch, i int) { x.finishRow(b, &x.finishes[i], t.header.began) },
		Chunk: func(i int) int { return x.chunkOf(x.finishes[i].Tick) },
	}, nil
}

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
	grows := t.Grows && len(x.stays[stay].Names) > 0 // the directory of a stay without a name may get another
	for k, name := range tableNames {
		k := table(k)
		size := int64(len(tableHeads[k])) + x.stays[stay].Bytes[k]
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
	for c := int(s.FirstChunk); c >= 0 && c <= int(s.LastChunk); c++ {
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
	list, err := r.idx.chunks[k].activities(nil)
	return list, int64(cap(list)) * int64(unsafe.Sizeof(activity{})), err
}

func byStay(a activity, stay int32) int { return cmp.Compare(a.stay, stay) }

// mapsDir is the folder beside a recording in which its map may lie, too.
const mapsDir = "maps"

// maxMap bounds the size of a map file.
const maxMap = 64 << 20

// findMap returns the map file of a recording and its path in dir, the folder of the recording. It
// has the name and the SHA-256 that the header tells, and lies there or in maps. Without one,
// content is nil.
func findMap(ctx context.Context, beside formats.Folder, h *header) (content []byte, at string) {
	name, sum := h.values.text("map_name"), strings.ToLower(h.values.text("map_sha256"))
	if beside == nil || name == "" || sum == "" || strings.Contains(name, "/") {
		return nil, ""
	}
	for _, dir := range []string{"", mapsDir + "/"} {
		for _, file := range []string{name + ".map", name + "_" + sum + ".map"} {
			b, err := readMap(ctx, beside, dir+file)
			if err != nil {
				continue
			}
			if got := sha256.Sum256(b); hex.EncodeToString(got[:]) == sum {
				return b, dir + file
			}
		}
	}
	return nil, ""
}

// needs are the Needs of the format: its map.
func needs(document []byte) []formats.Need {
	var d struct {
		Header struct {
			Name string      `json:"map_name"`
			Sum  string      `json:"map_sha256"`
			Size json.Number `json:"map_size"`
		} `json:"header"`
	}
	h := &d.Header
	err := json.Unmarshal(document, &d)
	size, sizeErr := h.Size.Int64()
	if err != nil || sizeErr != nil || h.Name == "" || len(h.Sum) != 2*sha256.Size {
		return nil
	}
	return []formats.Need{{
		Kind: "map", Name: h.Name, Ext: ".map", Dir: mapsDir, Size: size, SHA256: strings.ToLower(h.Sum),
		Hint: "paths.svg draws it if it lies beside the recording or in " + mapsDir + "/ there",
	}}
}

func readMap(ctx context.Context, dir formats.Folder, name string) ([]byte, error) {
	f, err := dir.Open(ctx, name)
	if err != nil || f.Stamp.Size > maxMap {
		return nil, err
	}
	return f.All(ctx)
}
