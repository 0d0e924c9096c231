package views

import (
	"context"

	"recfs/formats/columnar"
	"recfs/nodes"
)

// A Table is a table of a recording: its columns, the groups of its rows, and how they are made.
type Table[T any] struct {
	Name    string
	Columns []columnar.Column

	// Groups returns the row groups, as the index has counted them.
	Groups func(x *T) []columnar.Group

	// Rows adds the rows of one of Chunks chunks.
	Chunks func(x *T) int
	Rows   func(ctx context.Context, x *T, b *columnar.Batch, chunk int) error

	// Fill, in place of Rows, adds the rows from the start of a chunk on, up to where the Batch is full
	// or a chunk of the format begins at or behind end, where the next group does.
	Fill func(ctx context.Context, x *T, b *columnar.Batch, chunk int) error

	// Counted, if set, is for a table whose rows no index counts, as that of a [columnar.Maker].
	Counted func(ctx context.Context) bool
}

// makers returns what makes the tables of a recording.
func (t *Tree[T]) makers(tables []Table[T]) []columnar.Maker {
	list := make([]columnar.Maker, len(tables))
	for i := range tables {
		table := &tables[i]
		list[i] = columnar.Maker{Name: table.Name, Counted: table.Counted, Make: func(ctx context.Context) (columnar.Table, error) {
			x, err := t.Index(ctx)
			if err != nil {
				return columnar.Table{}, err
			}
			return columnar.NewTable(table.Name, table.Columns, table.Groups(x), func(ctx context.Context, b *columnar.Batch, chunk int) error {
				return t.fill(ctx, table, b, chunk)
			}), nil
		}}
	}
	return list
}

// fill adds the rows from the start of a chunk on, until b is full.
func (t *Tree[T]) fill(ctx context.Context, table *Table[T], b *columnar.Batch, chunk int) error {
	x, err := t.Index(ctx)
	if err != nil {
		return err
	}
	if table.Fill != nil {
		return table.Fill(ctx, x, b, chunk)
	}
	for ; !b.Full(); chunk++ {
		if chunk >= table.Chunks(x) {
			return nodes.ErrStale // they were others when they were counted
		}
		if err := table.Rows(ctx, x, b, chunk); err != nil {
			return err
		}
	}
	return nil
}
