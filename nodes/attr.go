package nodes

import (
	"io/fs"
	"os"
	"sync"
	"time"
)

// An Attr is what an entry has besides its name and content. What is zero is
// that of the directory the entry is in, see [Entry.Inherit].
type Attr struct {
	Time    time.Time // of the last modification
	Rights  Rights
	DirSize int64 // st_size of a directory, in bytes: of what it shows, or 0
}

// Rights say who may do what with an entry. They are comparable; the zero
// Rights are unknown.
type Rights struct {
	Known    bool
	Mode     fs.FileMode // permission bits (0777) and nothing else
	UID, GID uint32
}

// NewRights returns the rights of an owner and group with the permission
// bits of mode.
func NewRights(mode fs.FileMode, uid, gid uint32) Rights {
	return Rights{Known: true, Mode: mode.Perm(), UID: uid, GID: gid}
}

// Private returns the rights of what nobody but the user of this process may
// see. They are unknown on a system without numbers for users.
func Private(mode fs.FileMode) Rights {
	uid, gid := user()
	if uid < 0 || gid < 0 {
		return Rights{}
	}
	return NewRights(mode, uint32(uid), uint32(gid))
}

// user returns the user and the group of this process.
var user = sync.OnceValues(func() (uid, gid int) { return os.Geteuid(), os.Getegid() })

// Searchable returns the rights of the directory that shows what is in a file
// with rights r: it has x where the file has r, and no other x.
func (r Rights) Searchable() Rights {
	r.Mode = r.Mode&^0o111 | r.Mode&0o444>>2
	return r
}

// Mode returns the type and the permissions of an entry. Where these are
// unknown, everybody may read; a link may always be read.
func (e Entry) Mode() fs.FileMode {
	kind := e.Type()
	switch {
	case kind == fs.ModeSymlink:
		return kind | 0o777
	case e.Rights.Known:
		return kind | e.Rights.Mode
	case kind == fs.ModeDir:
		return kind | 0o555
	}
	return 0o444
}

// Inherit returns e with what it leaves open taken from the directory it is
// in. A file has no x from there.
func (e Entry) Inherit(dir Attr) Entry {
	if e.Time.IsZero() {
		e.Time = dir.Time
	}
	if !e.Rights.Known {
		e.Rights = dir.Rights
		if e.Dir == nil {
			e.Rights.Mode &^= 0o111
		}
	}
	return e
}
