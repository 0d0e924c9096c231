// Package columnar has the tables of recordings as values: their columns, what is counted of them
// beforehand, and the rows that are made when they are asked for (docs/tree/tables.md).
package columnar

import (
	"context"
	"slices"
)

// A Table is rows of a recording that are alike: what docs/tree/tables.md shows below tables/, as
// values. How many rows there are, how many nulls and how much text is known before any row is
// made.
type Table struct {
	Name    string
	Columns []Column
	Groups  []Group // in the order of the rows; none has 0 rows
	// Fill makes the rows of a group, all columns at once: it adds them to a Batch of the group.
	Fill func(ctx context.Context, b *Batch, group int) error
}

// Rows returns the rows of a group.
func (t *Table) Rows(ctx context.Context, group int) (*Batch, error) {
	b := NewBatch(t.Columns, t.Groups[group])
	return b, t.Fill(ctx, b, group)
}

// NewTable returns a table whose groups fill makes: it adds the rows from the start of a chunk on,
// until the Batch is full.
func NewTable(name string, columns []Column, groups []Group, fill func(ctx context.Context, b *Batch, chunk int) error) Table {
	return Table{Name: name, Columns: columns, Groups: groups, Fill: func(ctx context.Context, b *Batch, group int) error {
		return fill(ctx, b, groups[group].Chunk)
	}}
}

// A Maker makes a table of a recording when it is asked for.
type Maker struct {
	Name string // of the table

	// Make returns the table. It makes no rows, and once there is an index it is cheap.
	Make func(ctx context.Context) (Table, error)

	// Counted, if set, is for a table whose rows no index counts: it reports whether they were counted
	// before, which Make does otherwise.
	Counted func(ctx context.Context) bool
}

// NewMaker returns the Maker of a table that [NewTable] gives once its groups are known.
func NewMaker(name string, columns []Column, groups func(ctx context.Context) ([]Group, error),
	fill func(ctx context.Context, b *Batch, chunk int) error,
) Maker {
	return Maker{Name: name, Make: func(ctx context.Context) (Table, error) {
		list, err := groups(ctx)
		if err != nil {
			return Table{}, err
		}
		return NewTable(name, columns, list, fill), nil
	}}
}

// OriginColumns returns the columns that tell of which recording a row is, and of one of a game its
// start.
func OriginColumns(timeless bool) []Column {
	list := []Column{{Name: "recording", Type: Text, Origin: true}}
	if !timeless {
		list = append(list, Column{Name: "start", Type: Time, Nullable: true, Origin: true})
	}
	return list
}

// WithOrigins returns a table with [OriginColumns] before its own. origins tells of which
// recordings the rows of a group are, in their order.
func (t Table) WithOrigins(timeless bool, origins func(group int) []Origin) Table {
	first := OriginColumns(timeless)
	u := Table{Name: t.Name, Columns: slices.Concat(first, t.Columns), Groups: slices.Clone(t.Groups)}
	for i := range u.Groups {
		g := &u.Groups[i]
		g.Origins = origins(i)
		g.Columns = slices.Concat(originCounts(first, g.Origins), g.Columns)
	}
	u.Fill = func(ctx context.Context, b *Batch, group int) error {
		own := *b
		own.Columns, own.last = b.Columns[len(first):], b.last[len(first):]
		err := t.Fill(ctx, &own, group)
		b.rows = own.rows
		return err
	}
	return u
}

// WithOrigin returns a table all of whose rows are of one recording, as [Table.WithOrigins] does.
func (t Table) WithOrigin(timeless bool, o Origin) Table {
	return t.WithOrigins(timeless, func(group int) []Origin {
		o.Rows = t.Groups[group].Rows
		return []Origin{o}
	})
}

// originCounts returns what is known of the values of [OriginColumns].
func originCounts(columns []Column, list []Origin) []Counts {
	counts := make([]Counts, len(columns))
	start := &counts[len(columns)-1]
	for i := range list {
		switch o := &list[i]; {
		case len(columns) == 1:
		case o.Dated:
			start.Bound(o.Start)
		default:
			start.Nulls += int64(o.Rows)
		}
	}
	return counts
}

// OriginVectors returns the columns of rows of these recordings.
func OriginVectors(timeless bool, list []Origin) []Vector {
	columns := OriginColumns(timeless)
	vectors := make([]Vector, len(columns))
	for i, n := range originCounts(columns, list) {
		vectors[i] = Vector{Column: columns[i], Counts: n, Origins: list}
	}
	return vectors
}
