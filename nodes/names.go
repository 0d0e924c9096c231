package nodes

import (
	"context"
	"io/fs"
)

// A Namer is a Dir that names an entry without making it, for the listings
// of huge directories.
type Namer interface {
	Dir

	// AppendName appends the name of the entry that At returns to b and
	// returns it with the type of the entry.
	AppendName(ctx context.Context, b []byte, i int) ([]byte, fs.FileMode, error)
}

// AppendName appends the name of entry i of dir to b and returns it with the
// type of the entry, without making the entry if dir is a Namer.
func AppendName(ctx context.Context, dir Dir, b []byte, i int) ([]byte, fs.FileMode, error) {
	if n, ok := dir.(Namer); ok {
		return n.AppendName(ctx, b, i)
	}
	e, err := dir.At(ctx, i)
	return append(b, e.Name...), e.Type(), err
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
