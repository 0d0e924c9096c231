package formats

import (
	"encoding/binary"
	iofs "io/fs"
	"time"
)

// A Stamp tells the states of a file apart, also after a restart and on
// another mount: nothing in it depends on the device. What a system does not
// tell is zero.
type Stamp struct {
	Size     int64  // bytes, as the file lies there
	Modified int64  // seconds since 1970; anybody can set it
	Nanos    int64  // of Modified
	Changed  int64  // nanoseconds since 1970 when the inode was changed last; nobody can set it
	Born     int64  // nanoseconds since 1970 when the inode was made; nobody can set it
	Inode    uint64 // its number, which another file may get later
}

// StampOf returns the stamp of a file.
func StampOf(info iofs.FileInfo) Stamp { return versionOf(info).Stamp }

// Same reports whether a file whose stamp was o, and is s now, is unchanged
// for sure. If not, its bytes may still be what they were: links, modes,
// renames and copies change a stamp, too. Without a change time nothing is
// sure, as size and modification time can be the same by will or accident.
func (s Stamp) Same(o Stamp) bool { return s == o && s.Changed != 0 }

// time returns the modification time.
func (s Stamp) time() time.Time { return time.Unix(s.Modified, s.Nanos) }

// stampSize is how many bytes Append appends.
const stampSize = 6 * 8

// Append appends the stamp as six little-endian numbers of 64 bits.
func (s Stamp) Append(b []byte) []byte {
	for _, n := range [...]uint64{uint64(s.Size), uint64(s.Modified), uint64(s.Nanos), uint64(s.Changed), uint64(s.Born), s.Inode} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// readStamp returns the stamp that Append appended to nothing; b has stampSize
// bytes or more.
func readStamp(b []byte) Stamp {
	var n [stampSize / 8]uint64
	for i := range n {
		n[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return Stamp{int64(n[0]), int64(n[1]), int64(n[2]), int64(n[3]), int64(n[4]), n[5]}
}

// A version is what tells the states of a file apart while the program runs.
type version struct {
	Stamp
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
	return version{Stamp: Stamp{Size: info.Size(), Modified: t.Unix(), Nanos: int64(t.Nanosecond())}}
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
