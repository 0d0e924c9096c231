package export

// An entry is a recording whose rows are to be written, or, without a line, one row group of it.
type entry struct {
	line   *line
	rows   int64
	bytes  int64   // that its values take, about
	m      *Member // that makes the rows; nil: they are in a file
	old    oldRows // where, without m
	before *entry  // the rows that it had; nil: it had none
}

func (e *entry) size() size { return size{e.rows, e.bytes} }

// isAlone reports whether a recording has row groups of its own.
func (e *entry) isAlone() bool {
	if e.m == nil {
		return e.old.groups > 1
	}
	return !e.size().fits()
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
