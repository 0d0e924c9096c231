package export

// An entry is a recording whose rows are to be written, or, without a line, one row group of it.
type entry struct {
	line  *line
	rows  int64
	bytes int64   // that its values take, about
	m     *Member // that makes the rows; nil: they are in a file
	old   oldRows // its rows before; without a file if it had none
}

func (e *entry) size() size { return size{e.rows, e.bytes} }

// former returns the rows that a recording had before, nil if it had none.
func (e *entry) former() *entry {
	if e.old.file == "" {
		return nil
	}
	return &entry{line: e.old.line, rows: e.old.line.Rows, old: e.old}
}

// An oldRows says where a file has the rows of a recording: from a row of a row group on, or as
// several whole groups.
type oldRows struct {
	file          string
	line          *line
	group, groups int
	row           int64
	plain         int64 // bytes of these row groups before compression
}
