package source

import (
	"context"
	"io"
	iofs "io/fs"
	"slices"
	"strings"

	"recfs/formats"
	"recfs/nodes"
)

// A Tree is where files come from: a directory of this machine, or what a container holds. Names
// are slash-separated paths without "." and "..", and "." is the root; they need not be UTF-8. No
// method follows a symbolic link in the last part of a name. What is not there is
// io/fs.ErrNotExist.
//
// A Tree is comparable, and may be used by any number of goroutines.
type Tree interface {
	// ID tells where it lies, with slashes, or another name that no second tree has; "": nothing is
	// kept of it on disk.
	ID() string
	// Stat returns what a name stands for at present.
	Stat(ctx context.Context, name string) (Info, error)
	// List returns what lies in a directory at present.
	List(ctx context.Context, name string) (Names, error)
	// ReadLink returns the target of a symbolic link, with slashes.
	ReadLink(ctx context.Context, name string) (string, error)
	// Open opens a regular file, which stays what it was when another one gets its name.
	Open(ctx context.Context, name string) (File, error)
	// Inside returns the rest of an absolute path, the target of a link, that leads into the tree.
	Inside(abs string) (rest string, ok bool)
}

// A Walker is a Tree that asks a server for names.
type Walker interface {
	// Walk gets ready for a listing of all that is below a directory.
	Walk(ctx context.Context, name string) error
	// Pages is List that waits for the first page alone.
	Pages(ctx context.Context, name string) (Pages, error)
}

// Pages are Names that come page after page, in their order. Len and Find tell of those that came.
type Pages interface {
	Names
	// Reach waits until there are n names, or all.
	Reach(ctx context.Context, n int) error
}

// An Info is what a tree tells of a file, directory or link at one moment. Size is that of the
// bytes of a regular file.
type Info struct {
	Version
	Type   iofs.FileMode // 0, ModeDir, ModeSymlink, or other bits of ModeType for what is not shown
	Rights nodes.Rights
	Fixed  bool // it can never change: nobody need look again
}

// A File is an opened file.
type File interface {
	nodes.ReaderAt
	// Info returns the state of the file, which may have changed since it was opened.
	Info(ctx context.Context) (Info, error)
	Close() error
}

// Names are the sorted names of the files, directories and links in a directory at one moment.
// They do not change.
type Names interface {
	Len() int
	// At returns a name and its type: 0, ModeDir or ModeSymlink.
	At(i int) (name string, typ iofs.FileMode)
	// Find returns the index of a name.
	Find(name string) (i int, ok bool)
	// Info returns what Stat would for a name, if the tree need not be asked for that.
	Info(i int) (info Info, ok bool)
	// Cost is how many bytes of memory they keep alive.
	Cost() int64
}

// readNames returns the names in the opened directory dir.
func readNames(ctx context.Context, dir iofs.ReadDirFile) (Names, error) {
	var list []Name
	for {
		entries, err := dir.ReadDir(1024)
		for _, e := range entries {
			list = append(list, Name{e.Name(), e.Type()})
		}
		if err == io.EOF {
			return NewNames(list), nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
}

// InfoOf returns what info tells of a file.
func InfoOf(info iofs.FileInfo) Info {
	return Info{Version: systemVersion(info), Type: info.Mode().Type(), Rights: rightsOf(info)}
}

// plainVersion is what every FileInfo tells.
func plainVersion(info iofs.FileInfo) Version {
	t := info.ModTime()
	return Version{Stamp: formats.Stamp{Size: info.Size(), Modified: t.Unix(), Nanos: int64(t.Nanosecond())}}
}

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

// A Name is a name in a directory with its type.
type Name struct {
	Name string
	Type iofs.FileMode
}

// NewNames returns the names in a directory. list is all that lies there: sockets, devices and
// fifos are not shown. It keeps list, and sorts it.
func NewNames(list []Name) Names {
	list = slices.DeleteFunc(list, func(n Name) bool { return n.Type != 0 && n.Type != iofs.ModeDir && n.Type != iofs.ModeSymlink })
	slices.SortFunc(list, func(a, b Name) int { return strings.Compare(a.Name, b.Name) })
	return &nameList{list}
}

// A nameList is Names of a directory that is asked for the rest.
type nameList struct{ list []Name }

func (l *nameList) Len() int { return len(l.list) }

func (l *nameList) At(i int) (string, iofs.FileMode) { return l.list[i].Name, l.list[i].Type }

func (l *nameList) Find(name string) (int, bool) {
	return slices.BinarySearchFunc(l.list, name, func(n Name, name string) int { return strings.Compare(n.Name, name) })
}

func (l *nameList) Info(int) (Info, bool) { return Info{}, false }

func (l *nameList) Cost() (n int64) {
	for _, name := range l.list {
		n += int64(len(name.Name)) + nameCost
	}
	return n
}

// nameCost is what a name takes in memory besides its text, whose size is rounded up.
const nameCost = 24 + 8
