package export

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"recfs/cache"
	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
)

// A groupWriter writes rows of many recordings as row groups.
type groupWriter struct {
	x        *Exporter
	timeless bool
	table    string
	columns  []columnar.Column // of the table, without those of Origins
	fail     func(m *Member, table string, err error)

	w       *parquet.Writer
	pending []*entry
	held    size
	lines   []line // of what was written
	made    []*Member
	rows    int64
}

// allColumns are those of the file.
func (g *groupWriter) allColumns() []columnar.Column {
	return slices.Concat(columnar.OriginColumns(g.timeless), g.columns)
}

// add adds a recording.
func (g *groupWriter) add(ctx context.Context, e *entry) error {
	if !g.held.plus(e.size()).fits() {
		if err := g.flush(ctx); err != nil {
			return err
		}
	}
	g.pending = append(g.pending, e)
	g.held = g.held.plus(e.size())
	if !e.size().fits() {
		return g.flush(ctx)
	}
	return nil
}

// flush writes the entries added since the last flush: as one row group, or as those of a large
// recording.
func (g *groupWriter) flush(ctx context.Context) error {
	list := g.pending
	g.pending, g.held = nil, size{}
	if len(list) == 0 {
		return nil
	}
	if len(list) == 1 && list[0].m != nil && !list[0].size().fits() {
		return g.large(ctx, list[0])
	}
	var n, read int64
	for _, e := range list {
		if n += e.bytes; e.old.groups == 1 {
			read = max(read, e.old.plain)
		}
	}
	lines, made, rows := len(g.lines), len(g.made), g.rows
	back := func() { g.lines, g.made, g.rows = g.lines[:lines], g.made[:made], rows }
	var failed []func()
	err := g.w.Make(ctx, g.x.c, n+read, func(ctx context.Context) (v []columnar.Vector, rows int, err error) {
		back()
		v, rows, failed, err = g.group(ctx, list)
		return v, rows, err
	})
	for _, tell := range failed {
		tell()
	}
	if large, ok := errors.AsType[*largeError](err); ok {
		back()
		return g.around(ctx, list, large.at)
	}
	return err
}

// A largeError says that a recording which cannot be made has row groups of its own, which are
// copied.
type largeError struct{ at int }

func (*largeError) Error() string { return "it had row groups of its own" }

// around writes a list in which one recording keeps the row groups that it had.
func (g *groupWriter) around(ctx context.Context, list []*entry, at int) error {
	g.pending = list[:at]
	err := g.flush(ctx)
	if err == nil {
		err = g.restore(ctx, list[at].former())
	}
	if err == nil {
		g.pending = list[at+1:]
		err = g.flush(ctx)
	}
	return err
}

// group makes a row group. A recording that cannot be made keeps the rows that it had, which failed
// reports.
func (g *groupWriter) group(ctx context.Context, list []*entry) (v []columnar.Vector, rows int, failed []func(), err error) {
	b, origins, files := g.batch(list), []columnar.Origin(nil), map[*entry]copied{}
	if err := g.read(list, files); err != nil {
		return nil, 0, nil, err
	}
	for i, e := range list {
		origin, from := columnar.Origin{}, e
		if e.m != nil && e.rows > 0 {
			before := b.Clone()
			origin = e.m.origin
			if err := e.m.fill(ctx, b, g.table, 0, e.rows); err != nil {
				if cache.IsShort(err) || ctx.Err() != nil {
					return nil, 0, nil, cmp.Or(ctx.Err(), err)
				}
				b.Back(before)
				failed = append(failed, func() { g.fail(e.m, g.table, err) })
				if from = e.former(); from == nil {
					continue
				}
				if from.old.groups > 1 {
					return nil, 0, failed[len(failed)-1:], &largeError{i}
				}
				if err := g.read([]*entry{from}, files); err != nil {
					return nil, 0, nil, err
				}
			}
		}
		if from.m == nil && from.rows > 0 {
			b.Next(int(from.rows), 0)
			b.Append(files[from].Batch)
			origin = files[from].origin
		}
		if origin.Rows = int(from.rows); origin.Rows > 0 {
			origins = append(origins, origin)
		}
		g.wrote(from)
	}
	return g.named(b, origins), b.Rows(), failed, nil
}

// named returns the columns of rows behind those that tell of which recordings they are.
func (g *groupWriter) named(b *columnar.Batch, origins []columnar.Origin) []columnar.Vector {
	return slices.Concat(columnar.OriginVectors(g.timeless, origins), b.Columns)
}

// batch returns a Batch with room for the rows of a list.
func (g *groupWriter) batch(list []*entry) *columnar.Batch {
	n := columnar.Group{}
	for _, e := range list {
		n.Rows += int(e.rows)
	}
	return columnar.NewBatch(g.columns, n)
}

func (g *groupWriter) wrote(e *entry) {
	g.rows += e.rows
	if e.line != nil {
		g.lines = append(g.lines, *e.line)
	}
	if e.m != nil {
		g.made = append(g.made, e.m)
	}
}

// large writes the row groups of a recording that has several, of equal sizes, so that none is
// less than half of one.
func (g *groupWriter) large(ctx context.Context, e *entry) error {
	n := e.size().groups()
	mark := g.w.Mark()
	for i := range n {
		made, err := g.stretch(ctx, e, e.rows*i/n, e.rows*(i+1)/n, e.bytes/n)
		if err == nil {
			continue
		}
		if made || ctx.Err() != nil {
			return cmp.Or(ctx.Err(), err)
		}
		g.w.Cut(mark)
		g.fail(e.m, g.table, err)
		return g.restore(ctx, e.former())
	}
	g.wrote(e)
	return nil
}

// stretch writes a row group of a large recording. made says that it could be made.
func (g *groupWriter) stretch(ctx context.Context, e *entry, from, to, bytes int64) (made bool, err error) {
	err = g.w.Make(ctx, g.x.c, bytes, func(ctx context.Context) ([]columnar.Vector, int, error) {
		b, origin := g.batch([]*entry{{rows: to - from}}), e.m.origin
		err := e.m.fill(ctx, b, g.table, from, to)
		made, origin.Rows = err == nil, b.Rows()
		return g.named(b, []columnar.Origin{origin}), b.Rows(), err
	})
	return made, err
}

// restore writes the rows that a recording had, nil for none. Row groups of it alone are copied.
func (g *groupWriter) restore(ctx context.Context, e *entry) error {
	switch {
	case e == nil:
		return nil
	case e.old.groups == 1:
		g.pending = append(g.pending, e)
		return g.flush(ctx)
	}
	r, closeFile, err := openRows(e.old.file)
	if err != nil {
		return err
	}
	defer closeFile()
	for i := range e.old.groups {
		if err := g.w.Copy(r, e.old.group+i); err != nil {
			return err
		}
	}
	g.wrote(e)
	return nil
}
