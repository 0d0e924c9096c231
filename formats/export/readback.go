package export

import (
	"cmp"
	"fmt"
	"slices"

	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
)

// An oldRows is where the rows of a recording are: in a row group, from a row on, or all of several
// groups.
type oldRows struct {
	file          string
	line          *line
	group, groups int
	row           int64
}

// A place is where rows were read to.
type place struct {
	b      *columnar.Batch
	row    int
	values []int // of each column, the first one
	rows   int
	origin columnar.Origin
}

// appendTo appends the rows, and tells of which recording they are.
func (p *place) appendTo(b *columnar.Batch) columnar.Origin {
	for i := range b.Columns {
		o := &p.b.Columns[i]
		b.Columns[i].AppendRows(o, p.row, p.row+p.rows, p.values[i], p.values[i]+o.Values(p.row, p.row+p.rows))
	}
	b.Took(p.rows)
	return p.origin
}

// openRows opens a file to read rows of it.
func openRows(name string) (r *parquet.Reader, closeFile func(), err error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		r, err = parquet.NewReader(f, info.Size())
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, func() { f.Close() }, nil
}

// read reads the rows of recordings that are in files, each row group once.
func (g *groupWriter) read(list []*entry) (map[*entry]*place, error) {
	places := map[*entry]*place{}
	list = slices.DeleteFunc(slices.Clone(list), func(e *entry) bool { return e.rows == 0 })
	slices.SortFunc(list, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.old.file, b.old.file), a.old.group-b.old.group, cmp.Compare(a.old.row, b.old.row))
	})
	for len(list) > 0 {
		file := list[0].old.file
		r, closeFile, err := openRows(file)
		if err != nil {
			return nil, err
		}
		for len(list) > 0 && list[0].old.file == file && err == nil {
			n := 1
			for n < len(list) && list[n].old.file == file && list[n].old.group == list[0].old.group {
				n++
			}
			if err = g.readGroup(r, list[:n], places); err != nil {
				err = fmt.Errorf("%s: %w", file, err)
			}
			list = list[n:]
		}
		if closeFile(); err != nil {
			return nil, err
		}
	}
	return places, nil
}

// readMore reads the rows of one more.
func (g *groupWriter) readMore(places map[*entry]*place, e *entry) (map[*entry]*place, error) {
	more, err := g.read([]*entry{e})
	if err == nil && e.rows > 0 {
		places[e] = more[e]
	}
	return places, err
}

// readGroup reads rows of one row group.
func (g *groupWriter) readGroup(r *parquet.Reader, list []*entry, places map[*entry]*place) error {
	b := g.batch(list)
	var spans, firsts []parquet.Span
	group := list[0].old.group
	for _, e := range list {
		row := int(e.old.row)
		places[e] = &place{b: b, rows: int(e.rows), values: make([]int, len(b.Columns))}
		spans = append(spans, parquet.Span{Row: row, End: row + int(e.rows)})
		firsts = append(firsts, parquet.Span{Row: row, End: row + 1})
	}
	before := len(g.allColumns()) - len(b.Columns)
	for c := range b.Columns {
		v := &b.Columns[c]
		if err := r.ReadColumn(group, before+c, spans, v); err != nil {
			return err
		}
		row, value := 0, 0
		for _, e := range list {
			p := places[e]
			p.row, p.values[c] = row, value
			value += v.Values(row, row+p.rows)
			row += p.rows
		}
	}
	return g.readOrigins(r, group, firsts, list, places)
}

// readOrigins reads of which recordings rows are: those of files have the start of their first row.
func (g *groupWriter) readOrigins(r *parquet.Reader, group int, firsts []parquet.Span, list []*entry, places map[*entry]*place) error {
	start := columnar.Vector{Column: columnar.Column{Type: columnar.Time, Nullable: true}}
	if !g.timeless {
		if err := r.ReadColumn(group, 1, firsts, &start); err != nil {
			return err
		}
	}
	value := 0
	for i, e := range list {
		o := columnar.Origin{Path: e.old.line.Recording}
		if len(start.Valid) > 0 && start.Valid[i] {
			o.Start, o.Dated = start.Int64s[value], true
			value++
		}
		places[e].origin = o
	}
	return nil
}
