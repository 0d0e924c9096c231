// Package nodes is the model of a read-only tree: directories that are
// arrays of named entries, and files whose size is known before they are
// read.
//
// A tree is made of the constructors of this package ([List], [Series], [Lazy], [Bytes], [Section],
// [Sized], [Func] and friends) and knows nothing of what it shows or of what serves it: formats
// make trees, package fs serves them.
package nodes

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ErrStale says that the source of a tree was replaced, shortened or
// rewritten while the tree was in use. A new look-up through the archive
// finds the new version.
var ErrStale = errors.New("the source has changed")

// ErrUnavailable says that a server did not answer in time, which says nothing of what it has.
var ErrUnavailable = errors.New("the source does not answer")

// ErrRemote says that a server gave an answer that is none to what it was asked.
var ErrRemote = errors.New("the source gives a wrong answer")

// IsOfServer reports whether an error is what a server says, or that it says nothing, and so tells
// nothing of the bytes that it has. Such an error has a method OfServer.
func IsOfServer(err error) bool {
	_, ok := errors.AsType[interface {
		error
		OfServer()
	}](err)
	return ok
}

// An Entry is a named Dir, File or symbolic link; exactly one of Dir, File
// and Link is set.
type Entry struct {
	Name string
	Attr
	Dir  Dir
	File File
	Link string // target of a symbolic link, see MaxLink; only the archive makes links

	// Grows says that File is one to which bytes can only be added: the file of the same path in a
	// later version of the recording, or a later version of the file itself, begins with its bytes.
	// That later one need not grow any more.
	Grows bool
}

// MaxLink is the most bytes that the target of a symbolic link has, as in
// Linux. It has one at least, and no NUL.
const MaxLink = 4095

// A Dir is an immutable array of entries sorted by name (byte order, unique).
// Addressing by index makes huge directories cheap: no entry exists until it
// is asked for, and an index is a readdir cookie and half of a node id.
//
// Methods may block on decoding, honour ctx, and are safe for concurrent
// use. Dir values are comparable (pointers, or structs of comparable fields).
type Dir interface {
	// Len returns how many entries a listing shows.
	Len(ctx context.Context) (int, error)

	// At returns entry i. Naming an entry decodes no content. An i from
	// Find may lie at or beyond Len; any other such i is io/fs.ErrNotExist.
	At(ctx context.Context, i int) (Entry, error)

	// Find returns the index for At of the entry that opens under name, or
	// an error that is io/fs.ErrNotExist. The entry's own name may differ
	// (a number written with fewer zeros). An entry that opens but is not
	// listed has an index of Len or more, below 1<<39, and so may one that is
	// listed, if it is known before the listing is.
	Find(ctx context.Context, name string) (int, error)
}

// A Volatile is a Dir whose entries may change while it is in use, such as
// the directories of an archive, or are too many to have an index each.
// Everything below a recording is immutable.
//
// The Dir and File values of its entries are comparable, and equal exactly
// when they show the same version of the same thing.
type Volatile interface {
	Dir // Len, At and Find answer for the moment; an index is good for one listing only

	// Lookup returns the entry of that name as it is now, looking at
	// nothing but that name. A directory whose attributes may change has an
	// entry "." that is itself.
	Lookup(ctx context.Context, name string) (Entry, error)

	// Snapshot returns the names as they are now, for one listing.
	Snapshot(ctx context.Context) (Dir, error)
}

// A Grower is the Dir or File of an entry of a Volatile that can tell what became of another. A
// program that has a file open that Grows then sees what was added.
type Grower interface {
	// Since tells how what earlier shows, a value for an entry of the same name, became what this one
	// shows.
	Since(earlier Grower) Change
}

// A Change is what became of a source.
type Change int

const (
	Unknown  Change = iota
	Grown           // bytes were added, maybe none, and it was not replaced
	Replaced        // there is another one in its place, or it is shorter
)

// A File is immutable. File values are comparable, like Dir values.
type File interface {
	// Size is exact: it is the size of the Content that Open returns.
	Size(ctx context.Context) (int64, error)

	// Open makes the content readable; decoding happens here, not while reading. The Content may be
	// an io.Closer, which its user closes.
	Open(ctx context.Context) (Content, error)
}

// A Measured is a File that may have to be made as a whole before its size is
// known. A listing with attributes leaves those of such a file out until
// somebody has asked for them.
type Measured interface {
	File

	// IsMeasured reports whether Size makes nothing.
	IsMeasured(ctx context.Context) bool
}

// IsMeasured reports whether nothing has to be made to tell the size of a file.
func IsMeasured(ctx context.Context, f File) bool {
	m, ok := f.(Measured)
	return !ok || m.IsMeasured(ctx)
}

// A Documented is a File of bytes that a document of the same tree tells in fields. Two such files
// are compared by those.
type Documented interface {
	File
	Document(ctx context.Context) (Entry, error)
}

// DocumentOf returns the document of a file. ok is false if it has none.
func DocumentOf(ctx context.Context, f File) (document Entry, ok bool, err error) {
	for {
		switch file := f.(type) {
		case Documented:
			document, err = file.Document(ctx)
			return document, true, err
		case interface {
			Resolve(ctx context.Context) (File, error)
		}:
			if f, err = file.Resolve(ctx); err != nil {
				return Entry{}, false, err
			}
		default:
			return Entry{}, false, nil
		}
	}
}

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

// Append appends the rights as text.
func (r Rights) Append(b []byte) []byte {
	b = strconv.AppendBool(b, r.Known)
	for _, n := range [...]uint32{uint32(r.Mode), r.UID, r.GID} {
		b = strconv.AppendUint(append(b, ' '), uint64(n), 10)
	}
	return b
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

// A Versioned is the Dir or File of an entry that tells which version of a source it shows.
type Versioned interface {
	// Version names the version of what lies at the path below, which may be "". What has the same
	// path and the same version has the same bytes, after a restart and on another machine, too.
	Version(ctx context.Context, below string) (string, error)
}

// IsWhole reports whether an entry is a directory that is made of one source, as that of a
// recording, and no part of one.
func IsWhole(e Entry) bool {
	if _, ok := e.Dir.(Versioned); !ok {
		return false
	}
	p, ok := e.Dir.(interface{ IsPart() bool })
	return !ok || !p.IsPart()
}

// A Recording is the Dir of a recording in an archive.
type Recording interface {
	Dir
	// Tree returns the directory that the format made of it.
	Tree(ctx context.Context) (Dir, error)
	// IsRecording reports whether it is one: the value may stand for another directory, too.
	IsRecording() bool
}

// IsRecording reports whether an entry is the directory of a recording.
func IsRecording(e Entry) bool {
	r, ok := e.Dir.(Recording)
	return ok && r.IsRecording()
}

// A Way is the entries over which a path leads, from the root on.
type Way struct {
	Entries []Entry
	Links   int // how many symbolic links were followed
}

// Last returns the entry at the end.
func (w Way) Last() Entry { return w.Entries[len(w.Entries)-1] }

// Path returns the path from the root to the last entry, without links; "." is the root.
func (w Way) Path() string {
	if len(w.Entries) == 1 {
		return "."
	}
	path := make([]byte, 0, 256)
	for i, e := range w.Entries[1:] {
		if i > 0 {
			path = append(path, '/')
		}
		path = append(path, e.Name...)
	}
	return string(path)
}

// Version names the version of the last entry; "" if nothing tells it.
func (w Way) Version(ctx context.Context) (string, error) {
	all := make([]byte, 0, 512)
	below := w.Path()
	for i, e := range w.Entries {
		if i > 0 {
			if _, below, _ = strings.Cut(below, "/"); below == "" {
				below = "."
			}
		}
		v, ok := e.Dir.(Versioned)
		if !ok {
			v, ok = e.File.(Versioned)
		}
		if !ok {
			continue
		}
		text, err := v.Version(ctx, below)
		if err != nil {
			return "", err
		}
		all = strconv.AppendInt(all, int64(len(text)), 10) // so that no two ways have one version
		all = append(append(all, ' '), text...)
	}
	return string(all), nil
}
