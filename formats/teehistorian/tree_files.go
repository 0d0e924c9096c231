package teehistorian

import (
	"context"
	"encoding/json"

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
		HeaderHead: formats.HeaderHead{Format: name, FormatVersion: t.header.formatVersion()},
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
	file, at := findMap(formats.InContext(ctx, t.FS), t.header)
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
				return stale(t.of(x).fill(nodes.Until(ctx, last), b, n, chunk, last, t.start))
			},
		})
	}
	return append(list, views.Table[index]{Name: "finishes", Columns: finishesColumns, Known: t.finishRows})
}

// stayRows returns the rows of the table players.
func (t *tree) stayRows(ctx context.Context, x *index) (views.Rows, error) {
	r, err := t.named(ctx)
	return views.Rows{N: len(x.stays), Add: func(b *columnar.Batch, i int) { r.stayRow(b, i, t.start) }}, err
}

// finishRows returns the rows of the table finishes.
func (t *tree) finishRows(_ context.Context, x *index) (views.Rows, error) {
	return views.Rows{
		N: len(x.finishes), Add: func(b *columnar.Batch, i int) { x.finishRow(b, &x.finishes[i], t.start) },
		Chunk: func(i int) int { return x.chunkOf(x.finishes[i].tick) },
	}, nil
}
