package nodes

import (
	"context"
	"io/fs"
)

// A Namer is a Dir that names an entry without making it, for the listings
// of huge directories.
type Namer interface {
	Dir

	// Name returns the name of the entry that At returns, and its type:
	// fs.ModeDir, fs.ModeSymlink, or 0 for a file.
	Name(ctx context.Context, i int) (string, fs.FileMode, error)
}

// Name returns the name and the type of entry i of dir, from Name or from At.
func Name(ctx context.Context, dir Dir, i int) (string, fs.FileMode, error) {
	if n, ok := dir.(Namer); ok {
		return n.Name(ctx, i)
	}
	e, err := dir.At(ctx, i)
	return e.Name, e.Type(), err
}

// Type returns the type of an entry: fs.ModeDir, fs.ModeSymlink, or 0 for a
// file.
func (e Entry) Type() fs.FileMode {
	switch {
	case e.Dir != nil:
		return fs.ModeDir
	case e.File != nil:
		return 0
	}
	return fs.ModeSymlink
}

// Resolve returns the directory that stands behind a Lazy one, for more than
// one operation. Other directories are returned as they are.
func Resolve(ctx context.Context, dir Dir) (Dir, error) {
	for {
		l, ok := dir.(*lazy)
		if !ok {
			return dir, nil
		}
		var err error
		if dir, err = l.open(ctx); err != nil {
			return nil, err
		}
	}
}
