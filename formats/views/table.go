package views

import (
	"context"
	"math"
	"sort"

	"recfs/formats/columnar"
	"recfs/formats/internal/rowcount"
	"recfs/nodes"
)

// A Table is a table of a recording: its columns, the groups of its rows, and how they are made.
type Table[T any] struct {
	Name    string
	Columns []columnar.Column

	// Schema, in place of Columns, is for a table whose columns follow from the index. Known rows
	// have both.
	Schema func(x *T) []columnar.Column

	// Groups returns the row groups, as the index has counted them.
	Groups func(x *T) []columnar.Group

	// Rows adds the rows of one of Chunks chunks.
	Chunks func(x *T) int
	Rows   func(ctx context.Context, x *T, b *columnar.Batch, chunk int) error

	// Fill, in place of Rows, adds the rows from the start of a chunk until the Batch is full, or
	// up to the chunk end.
	Fill func(ctx context.Context, x *T, b *columnar.Batch, chunk, end int) error

	// Known, in place of Groups and Rows, is for a table whose rows the index knows.
	Known func(ctx context.Context, x *T) (Rows, error)
}

// Rows are the rows of a table that an index knows.
type Rows struct {
	N     int
	Add   func(b *columnar.Batch, i int)
	Chunk func(i int) int // in which row i is; nil: the table has no chunks
}

// from returns the first row of a chunk.
func (r *Rows) from(chunk int) int {
	if r.Chunk == nil {
		return 0
	}
	return sort.Search(r.N, func(i int) bool { return r.Chunk(i) >= chunk })
}

// makers returns the makers of the tables of a recording.
func (t *Tree[T]) makers(tables []Table[T]) []columnar.Maker {
	list := make([]columnar.Maker, len(tables))
	for i := range tables {
		table := &tables[i]
		list[i] = columnar.Maker{Name: table.Name, Make: func(ctx context.Context) (columnar.Table, error) {
			x, err := t.Index(ctx)
			if err != nil {
				return columnar.Table{}, err
			}
			groups, err := table.groups(ctx, x)
			if err != nil {
				return columnar.Table{}, err
			}
			columns := table.Columns
			if table.Schema != nil {
				columns = table.Schema(x)
			}
			return columnar.Table{
				Name: table.Name, Columns: columns, Groups: groups,
				Fill: func(ctx context.Context, b *columnar.Batch, group int) error {
					return t.fill(ctx, table, b, groups, group)
				},
			}, nil
		}}
	}
	return list
}

// groups returns the row groups, which are counted here if the index knows the rows.
func (t *Table[T]) groups(ctx context.Context, x *T) ([]columnar.Group, error) {
	if t.Known == nil {
		return t.Groups(x), nil
	}
	rows, err := t.Known(ctx, x)
	if err != nil {
		return nil, err
	}
	c := rowcount.New(t.Columns)
	for i := range rows.N {
		for rows.Chunk != nil && c.Chunks() <= rows.Chunk(i) {
			c.EndChunk()
		}
		rows.Add(c.Batch, i)
		c.EndRow()
	}
	return c.Groups(), nil
}

// fill adds the rows of a group.
func (t *Tree[T]) fill(ctx context.Context, table *Table[T], b *columnar.Batch, groups []columnar.Group, group int) error {
	x, err := t.Index(ctx)
	if err != nil {
		return err
	}
	chunk := groups[group].Chunk
	if table.Known != nil {
		rows, err := table.Known(ctx, x)
		for i := rows.from(chunk); err == nil && i < rows.N && !b.Full(); i++ {
			rows.Add(b, i)
		}
		return err
	}
	if table.Fill != nil {
		end := math.MaxInt
		if rest := groups[group+1:]; len(rest) > 0 {
			end = rest[0].Chunk + min(rest[0].Skip, 1)
		}
		return table.Fill(ctx, x, b, chunk, end)
	}
	for ; !b.Full(); chunk++ {
		if chunk >= table.Chunks(x) {
			return nodes.ErrStale // the index has counted other rows
		}
		if err := table.Rows(ctx, x, b, chunk); err != nil {
			return err
		}
	}
	return nil
}
