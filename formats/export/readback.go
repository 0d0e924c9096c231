package export

import (
	"cmp"
	"fmt"
	"slices"

	"recfs/formats/columnar"
)

// A copied is rows that were read from a file.
type copied struct {
	*columnar.Batch
	origin columnar.Origin
}

// read returns the rows of recordings that are in files. It reads each row group once.
func (g *groupWriter) read(list []*entry) (map[*entry]copied, error) {
	rows := map[*entry]copied{}
	list = slices.DeleteFunc(slices.Clone(list), func(e *entry) bool { return e.m != nil || e.rows == 0 })
	slices.SortFunc(list, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.old.file, b.old.file), a.old.group-b.old.group)
	})
	for len(list) > 0 {
		old := list[0].old
		n := slices.IndexFunc(list, func(e *entry) bool { return e.old.file != old.file || e.old.group != old.group })
		if n < 0 {
			n = len(list)
		}
		if err := g.readGroup(list[:n], rows); err != nil {
			return nil, fmt.Errorf("%s: %w", old.file, err)
		}
		list = list[n:]
	}
	return rows, nil
}

// readGroup reads the rows of recordings in one row group. Of them all have the start of the first.
func (g *groupWriter) readGroup(list []*entry, rows map[*entry]copied) error {
	old := list[0].old
	r, closeFile, err := openRows(old.file)
	if err != nil {
		return err
	}
	defer closeFile()
	origins := columnar.OriginColumns(g.timeless)
	all, err := r.ReadRows(old.group, len(origins), g.columns)
	if err != nil {
		return err
	}
	starts, err := r.ReadRows(old.group, 1, origins[1:])
	if err != nil {
		return err
	}
	for _, e := range list {
		b := g.batch([]*entry{e})
		b.Next(int(e.rows), int(e.old.row))
		b.Append(all)
		c := copied{b, columnar.Origin{Path: e.old.line.Recording}}
		for i := range starts.Columns {
			s, row := &starts.Columns[i], int(e.old.row)
			if c.origin.Dated = s.Valid[row]; c.origin.Dated {
				c.origin.Start = s.Int64s[s.Values(0, row)]
			}
		}
		rows[e] = c
	}
	return nil
}
