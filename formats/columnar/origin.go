package columnar

import (
	"context"
	"slices"
)

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
