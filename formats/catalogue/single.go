package catalogue

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/internal/rowcount"
)

// A span is where the rows of a piece lie: in those that a block has.
type span struct{ block, start, end int }

// A single is a table over all recordings of a format that have it and an index.
type single struct {
	file
	format *formats.Format
	table  *columnar.Table

	recordings int // of which it is made
	unindexed  int // recordings of the format
	groups     []columnar.Group
	spans      [][]span // of each group, as many as it has Origins
	lost       func()   // is called when rows cannot be read
	full       bool     // the last group is of a recording with more rows than it may have
}

// newSingle finds the rows of a table, by what records say.
func newSingle(ctx context.Context, f file, format *formats.Format, table *columnar.Table) (*single, error) {
	s := &single{file: f, format: format, table: table}
	var err error
	block, at := -1, 0 // of the rows that come next
	for in, r := range s.records(ctx, 0, &err) {
		if in != block {
			block, at = in, 0
		}
		if r.Format == format.Name && !r.Indexed {
			s.unindexed++
		}
		for i := range r.Tables {
			t := &r.Tables[i]
			if t.Name == table.Name && r.Format == format.Name && r.Indexed {
				if err := s.add(r, t, block, at); err != nil {
					return nil, err
				}
			}
			at += t.Packed
		}
	}
	return s, err
}

// add adds the rows of a recording, which begin at a place in those of a block.
func (s *single) add(r *ledger.Record, t *ledger.Table, block, at int) error {
	pieces, ok := piecesOf(t, s.table.Columns)
	if !ok {
		return nil // the next look at the archive makes them again
	}
	s.recordings++
	if len(pieces) == 0 {
		return nil
	}
	var line Summary
	if err := json.Unmarshal([]byte(r.Line), &line); err != nil {
		return err
	}
	o := originOf(r.Path, line.Start)
	for i := range pieces {
		p := &pieces[i]
		if last := len(s.groups) - 1; last < 0 || s.full || len(pieces) > 1 || s.groups[last].Rows+p.Rows > columnar.GroupRows {
			s.full = len(pieces) > 1
			s.groups = append(s.groups, columnar.Group{Columns: make([]columnar.Counts, len(s.table.Columns))})
			s.spans = append(s.spans, nil)
		}
		last := len(s.groups) - 1
		g := &s.groups[last]
		for c := range g.Columns {
			g.Columns[c].Add(&p.Columns[c], s.table.Columns[c].Type)
		}
		g.Rows += p.Rows
		o.Rows = p.Rows
		g.Origins = append(g.Origins, o)
		s.spans[last] = append(s.spans[last], span{block, at, at + p.bytes})
		at += p.bytes
	}
	return nil
}

// maker returns what makes the table.
func (s *single) maker() *columnar.Maker {
	return &columnar.Maker{Name: s.table.Name, Make: func(context.Context) (columnar.Table, error) {
		t := columnar.Table{Name: s.table.Name, Columns: slices.Clone(s.table.Columns), Groups: s.groups, Fill: s.fill}
		for i := range t.Columns { // a recording may have nulls where others have none
			c := &t.Columns[i]
			c.Nullable = c.Nullable || slices.ContainsFunc(s.groups, func(g columnar.Group) bool { return g.Columns[i].Nulls > 0 })
		}
		return t.WithOrigins(s.format.Timeless, func(group int) []columnar.Origin { return s.groups[group].Origins }), nil
	}}
}

// fill makes the rows of a group.
func (s *single) fill(ctx context.Context, b *columnar.Batch, group int) error {
	g := &s.groups[group]
	for i, at := range s.spans[group] {
		rows, err := s.Rows(ctx, s.pages, at.block)
		if err == nil {
			r := indexfile.NewReader("catalogue", rows[min(at.start, len(rows)):min(at.end, len(rows))])
			rowcount.ReadRows(r, b, g.Origins[i].Rows)
			err = r.Close()
		}
		if err != nil && !formats.IsShort(err) && ctx.Err() == nil {
			s.lost()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// metadata returns that of the file, which says of how many recordings it was made, and how many
// have no index.
func (s *single) metadata() []parquet.Pair {
	return []parquet.Pair{
		{Key: "recfs.format", Value: s.format.Name},
		{Key: "recfs.table", Value: s.table.Name},
		{Key: "recfs.recordings", Value: strconv.Itoa(s.recordings)},
		{Key: "recfs.unindexed", Value: strconv.Itoa(s.unindexed)},
	}
}

// cost is about what it keeps alive besides the list.
func (s *single) cost() (n int64) {
	const each, origin = 64, 80
	for i := range s.groups {
		n += int64(each * len(s.groups[i].Columns))
		for _, o := range s.groups[i].Origins {
			n += int64(origin + len(o.Path))
		}
	}
	return n
}
