package export

// An entry is a recording whose rows are written, or one row group of it.
type entry struct {
	line *line
	size         // bytes: what its values take, about
	m    *Member // that makes the rows; nil: they are in a file

	// Where rows are in a file:
	from *unit
	row  int64 // of the unit, the first one
	change

	before *entry // the rows that a recording had whose rows are made; nil: it had none
}

// isAlone reports whether a recording has row groups of its own.
func (e *entry) isAlone() bool {
	if e.m == nil {
		return e.from.groups > 1
	}
	return !e.fits()
}

// A change is what becomes of the rows that a part has of a recording.
type change struct {
	to    *Member // they are made anew
	drop  bool    // they go
	gone  bool    // as the recording is
	moves *Member // they go once they are in another part
}

// A unit is row groups of a file that were made together: one of whole recordings, or those of a
// large one alone. Recordings without rows that lie beside a large one are a unit of no row groups.
type unit struct {
	file          string
	group, groups int
	size          // bytes: before compression
	entries       []*entry
}
