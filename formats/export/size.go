package export

import "recfs/formats/columnar"

// groupLimit is how large a row group is at most, about.
var groupLimit = size{columnar.MaxGroupRows, 64 << 20}

// A size is how large rows are.
type size struct{ rows, bytes int64 }

func (a size) plus(b size) size { return size{a.rows + b.rows, a.bytes + b.bytes} }

// fits reports whether it fits into one row group.
func (a size) fits() bool { return a.rows <= groupLimit.rows && a.bytes <= groupLimit.bytes }

// isHalf reports whether it is more than half of a row group.
func (a size) isHalf() bool { return a.rows > groupLimit.rows/2 || a.bytes > groupLimit.bytes/2 }

// groups returns how many row groups of equal sizes are made of so much.
func (a size) groups() int64 {
	return max((a.rows+groupLimit.rows-1)/groupLimit.rows, min((a.bytes+groupLimit.bytes-1)/groupLimit.bytes, a.rows))
}
