package source

import (
	"context"
	iofs "io/fs"

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
