package source

import (
	"encoding/binary"
	iofs "io/fs"

	"recfs/formats"
)

// A Version is what tells the states of a file apart while the program runs.
type Version struct {
	formats.Stamp
	Dev   uint64 // the device
	Links uint64 // how many names lead to it
}

// AppendAll appends all of the version to b: Append leaves out what holds as
// long as the program runs.
func (v Version) AppendAll(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(v.Stamp.Append(b), v.Dev)
	return binary.LittleEndian.AppendUint64(b, v.Links)
}

// CutVersion returns the version that AppendAll put before rest.
func CutVersion(b []byte) (v Version, rest []byte) {
	v.Stamp, b = formats.ReadStamp(b), b[formats.StampSize:]
	v.Dev, v.Links = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	return v, b[16:]
}

// VersionOf returns the version of a file.
func VersionOf(info iofs.FileInfo) Version {
	if i, ok := info.(interface{ Version() Version }); ok {
		return i.Version()
	}
	return systemVersion(info)
}

// plainVersion is what every FileInfo tells.
func plainVersion(info iofs.FileInfo) Version {
	t := info.ModTime()
	return Version{Stamp: formats.Stamp{Size: info.Size(), Modified: t.Unix(), Nanos: int64(t.Nanosecond())}}
}

// SameFile reports whether info is of the file that had version v: it is in
// the same state, or surely the same inode in another one. The number of an
// inode alone does not tell, as the next file gets that of a removed one.
func (v Version) SameFile(info iofs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return false
	}
	now := VersionOf(info)
	return now == v || v.Born != 0 && v.Inode != 0 && now.Dev == v.Dev && now.Inode == v.Inode && now.Born == v.Born
}

// otherFile reports whether info is surely of another file than v.
func (v Version) otherFile(info iofs.FileInfo) bool {
	now := VersionOf(info)
	return !info.Mode().IsRegular() || now.Dev != v.Dev || now.Inode != v.Inode || now.Born != v.Born
}
