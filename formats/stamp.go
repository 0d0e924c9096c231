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

// StampOf returns the stamp of a file: what its FileInfo has a method Stamp
// for, as those of an Input have, or else what every FileInfo tells.
func StampOf(info iofs.FileInfo) Stamp {
	if i, ok := info.(interface{ Stamp() Stamp }); ok {
		return i.Stamp()
	}
	t := info.ModTime()
	return Stamp{Size: info.Size(), Modified: t.Unix(), Nanos: int64(t.Nanosecond())}
}

// Same reports whether a file whose stamp was o, and is s now, is unchanged
// for sure. If not, its bytes may still be what they were: links, modes,
// renames and copies change a stamp, too. Without a change time nothing is
// sure, as size and modification time can be the same by will or accident.
func (s Stamp) Same(o Stamp) bool {
	if s.Changed == ByContent && o.Changed == ByContent {
		return s.Size == o.Size && s.Inode == o.Inode
	}
	return s == o && s.Changed != 0
}

// ByContent is the change time of what has none, where Inode is a sum of a name that a server gives
// to these very bytes: it holds on every machine, and for a copy.
const ByContent = -1

// Time returns the modification time.
func (s Stamp) Time() time.Time { return time.Unix(s.Modified, s.Nanos) }

// StampSize is how many bytes Append appends.
const StampSize = 6 * 8

// Append appends the stamp as six little-endian numbers of 64 bits.
func (s Stamp) Append(b []byte) []byte {
	for _, n := range [...]uint64{uint64(s.Size), uint64(s.Modified), uint64(s.Nanos), uint64(s.Changed), uint64(s.Born), s.Inode} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// ReadStamp returns the stamp that Append appended to nothing; b has stampSize
// bytes or more.
func ReadStamp(b []byte) Stamp {
	var n [StampSize / 8]uint64
	for i := range n {
		n[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return Stamp{int64(n[0]), int64(n[1]), int64(n[2]), int64(n[3]), int64(n[4]), n[5]}
}
