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
	plain         int64 // bytes of the row group, if it is one
}

// A copied is rows that were read from a file.
type copied struct {
	*columnar.Batch
	origin columnar.Origin
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

// readMetadata returns the metadata of a file, nil if it is not there or cannot be read.
func readMetadata(name string) map[string]string {
	r, closeFile, err := openRows(name)
	if err != nil {
		return nil
	}
	closeFile()
	return r.Metadata
}

// read reads the rows of recordings that are in files, each row group once.
func (g *groupWriter) read(list []*entry, rows map[*entry]copied) error {
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
			return fmt.Errorf("%s: %w", old.file, err)
		}
		list = list[n:]
	}
	return nil
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
