package archive

import (
	iofs "io/fs"

	"recfs/formats"
)

// A version is what tells the states of a file apart while the program runs.
type version struct {
	formats.Stamp
	dev   uint64
	links uint64
}

// versionOf returns the version of a file.
func versionOf(info iofs.FileInfo) version {
	if i, ok := info.(interface{ version() version }); ok {
		return i.version()
	}
	return systemVersion(info)
}

// plainVersion is what every FileInfo tells.
func plainVersion(info iofs.FileInfo) version {
	t := info.ModTime()
	return version{Stamp: formats.Stamp{Size: info.Size(), Modified: t.Unix(), Nanos: int64(t.Nanosecond())}}
}

// sameFile reports whether info is of the file that had version v: it is in
// the same state, or surely the same inode in another one. The number of an
// inode alone does not tell, as the next file gets that of a removed one.
func (v version) sameFile(info iofs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return false
	}
	now := versionOf(info)
	return now == v || v.Born != 0 && v.Inode != 0 && now.dev == v.dev && now.Inode == v.Inode && now.Born == v.Born
}

// otherFile reports whether info is surely of another file than v.
func (v version) otherFile(info iofs.FileInfo) bool {
	now := versionOf(info)
	return !info.Mode().IsRegular() || now.dev != v.dev || now.Inode != v.Inode || now.Born != v.Born
}
