package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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
	old     *parquet.Reader // of the file whose units are copied; nil: none are
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
	if e.isAlone() || !g.held.plus(e.size).fits() {
		if err := g.flush(ctx); err != nil {
			return err
		}
	}
	g.pending = append(g.pending, e)
	g.held = g.held.plus(e.size)
	if e.isAlone() {
		return g.flush(ctx)
	}
	return nil
}

// flush writes the entries added since the last flush: as one row group, or as those of a large
// recording. Recordings that cannot be made are reported and keep the rows that they had: all is
// added again with these.
func (g *groupWriter) flush(ctx context.Context) error {
	list := g.pending
	g.pending, g.held = nil, size{}
	if len(list) == 0 {
		return nil
	}
	var err error
	switch first := list[0]; {
	case !first.isAlone():
		err = g.small(ctx, list)
	case first.m == nil:
		err = g.copy(first.from)
	default:
		err = g.large(ctx, first)
	}
	unmade, ok := errors.AsType[unmadeError](err)
	if !ok {
		return err
	}
	for _, e := range list {
		if why := unmade[e]; why != nil {
			g.fail(e.m, g.table, why)
			e = e.before
		}
		if e != nil {
			if err := g.add(ctx, e); err != nil {
				return err
			}
		}
	}
	return g.flush(ctx)
}

// An unmadeError says why the rows of recordings cannot be made.
type unmadeError map[*entry]error

func (e unmadeError) Error() string { return fmt.Sprintf("%d recordings cannot be made", len(e)) }

// fill adds rows of a recording.
func (g *groupWriter) fill(ctx context.Context, b *columnar.Batch, e *entry, from, to int64) error {
	err := e.m.fill(ctx, b, g.table, from, to)
	if err == nil || cache.IsShort(err) || ctx.Err() != nil {
		return cmp.Or(ctx.Err(), err)
	}
	return unmadeError{e: err}
}

// small writes one row group.
func (g *groupWriter) small(ctx context.Context, list []*entry) error {
	var n, read int64
	for _, e := range list {
		if n += e.bytes; e.m == nil {
			read = max(read, e.from.bytes)
		}
	}
	err := g.w.Make(ctx, g.x.c, n+read, func(ctx context.Context) ([]columnar.Vector, int, error) {
		return g.group(ctx, list)
	})
	if err == nil {
		g.wrote(list...)
	}
	return err
}

// group makes a row group, or tells of all recordings for which it cannot be made.
func (g *groupWriter) group(ctx context.Context, list []*entry) ([]columnar.Vector, int, error) {
	b, origins, unmade := g.batch(list), []columnar.Origin(nil), unmadeError{}
	files, err := g.read(list)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range list {
		if e.rows == 0 {
			continue
		}
		var origin columnar.Origin
		if e.m != nil {
			origin, err = e.m.origin, g.fill(ctx, b, e, 0, e.rows)
			if one, ok := errors.AsType[unmadeError](err); ok {
				maps.Copy(unmade, one)
				b = g.batch(nil) // whose rows go nowhere
			} else if err != nil {
				return nil, 0, err
			}
		} else {
			b.Next(int(e.rows), 0)
			b.Append(files[e].Batch)
			origin = files[e].origin
		}
		origin.Rows = int(e.rows)
		origins = append(origins, origin)
	}
	if len(unmade) > 0 {
		return nil, 0, unmade
	}
	return g.named(b, origins), b.Rows(), nil
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

// wrote takes note of what was written.
func (g *groupWriter) wrote(list ...*entry) {
	for _, e := range list {
		g.rows += e.rows
		g.lines = append(g.lines, *e.line)
		if e.m != nil {
			g.made = append(g.made, e.m)
		}
	}
}

// large writes the row groups of a recording that has several, of equal sizes, so that none is
// less than half of one.
func (g *groupWriter) large(ctx context.Context, e *entry) error {
	mark := g.w.Mark()
	for i, n := int64(0), e.groups(); i < n; i++ {
		from, to := e.rows*i/n, e.rows*(i+1)/n
		err := g.w.Make(ctx, g.x.c, e.bytes/n, func(ctx context.Context) ([]columnar.Vector, int, error) {
			b, origin := g.batch([]*entry{{size: size{rows: to - from}}}), e.m.origin
			err := g.fill(ctx, b, e, from, to)
			origin.Rows = b.Rows()
			return g.named(b, []columnar.Origin{origin}), b.Rows(), err
		})
		if err != nil {
			g.w.Cut(mark)
			if cache.IsShort(err) { // others may do with less
				err = unmadeError{e: err}
			}
			return err
		}
	}
	g.wrote(e)
	return nil
}

// copy copies a unit of the old file, which has the same columns, as it lies there.
func (g *groupWriter) copy(u *unit) error {
	for i := range u.groups {
		if err := g.w.Copy(g.old, u.group+i); err != nil {
			return err
		}
	}
	g.wrote(u.entries...)
	return nil
}

// A copied is rows that were read from a file.
type copied struct {
	*columnar.Batch
	origin columnar.Origin
}

// read returns the rows of recordings that are in files. It reads each row group once.
func (g *groupWriter) read(list []*entry) (map[*entry]copied, error) {
	from, rows := map[*unit][]*entry{}, map[*entry]copied{}
	for _, e := range list {
		if e.m == nil && e.rows > 0 {
			from[e.from] = append(from[e.from], e)
		}
	}
	for u, list := range from {
		if err := g.readUnit(u, list, rows); err != nil {
			return nil, fmt.Errorf("%s: %w", g.x.dir.name(u.file), err)
		}
	}
	return rows, nil
}

// readUnit reads the rows of recordings in the one row group of a unit.
func (g *groupWriter) readUnit(u *unit, list []*entry, rows map[*entry]copied) error {
	r, closeFile, err := g.x.dir.rows(u.file)
	if err != nil {
		return err
	}
	defer closeFile()
	origins := columnar.OriginColumns(g.timeless)
	all, err := r.ReadRows(u.group, len(origins), g.columns)
	if err != nil {
		return err
	}
	starts, err := r.ReadRows(u.group, 1, origins[1:])
	if err != nil {
		return err
	}
	for _, e := range list {
		b := g.batch([]*entry{e})
		b.Next(int(e.rows), int(e.row))
		b.Append(all)
		c := copied{b, columnar.Origin{Path: e.line.Recording}}
		for i := range starts.Columns {
			s, row := &starts.Columns[i], int(e.row)
			if c.origin.Dated = s.Valid[row]; c.origin.Dated {
				c.origin.Start = s.Int64s[s.Values(0, row)]
			}
		}
		rows[e] = c
	}
	return nil
}
