package export

// An entry is a recording whose rows are to be written, or with no line a part of one.
type entry struct {
	line  *line
	rows  int64
	bytes int64   // that its values take, about
	m     *Member // that makes the rows; nil: they are in a file
	old   oldRows // what it had before; of no file if it had nothing
}

func (e *entry) size() size { return size{e.rows, e.bytes} }

// former returns what there was of a recording before, nil if nothing.
func (e *entry) former() *entry {
	if e.old.file == "" {
		return nil
	}
	return &entry{line: e.old.line, rows: e.old.line.Rows, old: e.old}
}

// An oldRows is where the rows of a recording are: in a row group, from a row on, or all of several
// groups.
type oldRows struct {
	file          string
	line          *line
	group, groups int
	row           int64
	plain         int64 // bytes of the row group, if it is one
}
