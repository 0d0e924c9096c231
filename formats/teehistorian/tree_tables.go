package teehistorian

import (
	"context"

	"recfs/formats/columnar"
	"recfs/formats/views"
)

// rowTables are the tables of the recording.
func (t *tree) rowTables() []views.Table[index] {
	list := []views.Table[index]{{Name: "players", Columns: playersColumns, Known: t.stayRows}}
	for n, name := range rowTableNames {
		list = append(list, views.Table[index]{
			Name: name, Columns: rowColumns[n],
			Groups: func(x *index) []columnar.Group { return x.rows[n].Groups() },
			Fill: func(ctx context.Context, x *index, b *columnar.Batch, chunk, end int) error {
				return stale(t.of(x).fill(ctx, b, n, chunk, x.chunkStart(end), t.start))
			},
		})
	}
	return append(list, views.Table[index]{Name: "finishes", Columns: finishesColumns, Known: t.finishRows})
}

// stayRows are the rows of the table players.
func (t *tree) stayRows(ctx context.Context, x *index) (views.Rows, error) {
	r, err := t.named(ctx)
	return views.Rows{N: len(x.stays), Add: func(b *columnar.Batch, i int) { r.stayRow(b, i, t.start) }}, err
}

// finishRows are the rows of the table finishes.
func (t *tree) finishRows(_ context.Context, x *index) (views.Rows, error) {
	return views.Rows{
		N: len(x.finishes), Add: func(b *columnar.Batch, i int) { x.finishRow(b, &x.finishes[i], t.start) },
		Chunk: func(i int) int { return x.chunkOf(x.finishes[i].tick) },
	}, nil
}
