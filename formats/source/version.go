package source

import "recfs/formats"

// A Version is what tells the states of a file apart while the program runs.
type Version struct {
	formats.Stamp
	Dev   uint64 // the device
	Links uint64 // how many names lead to it
}

// SameFile reports whether info is of the file that had version v: it is in
// the same state, or surely the same inode in another one. The number of an
// inode alone does not tell, as the next file gets that of a removed one.
func (v Version) SameFile(info Info) bool {
	if info.Type != 0 {
		return false
	}
	now := info.Version
	return now == v || v.Born != 0 && v.Inode != 0 && now.Dev == v.Dev && now.Inode == v.Inode && now.Born == v.Born
}

// otherFile reports whether info is surely of another file than v.
func (v Version) otherFile(info Info) bool {
	now := info.Version
	return info.Type != 0 || now.Dev != v.Dev || now.Inode != v.Inode || now.Born != v.Born
}
