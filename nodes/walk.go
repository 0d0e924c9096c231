package nodes

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path"
	"strings"
)

// Child returns the entry that opens under name in dir.
func Child(ctx context.Context, dir Dir, name string) (Entry, error) {
	if v, ok := dir.(Volatile); ok {
		return v.Lookup(ctx, name)
	}
	_, e, err := FindAt(ctx, dir, name)
	return e, err
}

// FindAt returns the entry that opens under name in an immutable directory, and its index: -1 if
// there is no such name, or the error is another one of finding it.
func FindAt(ctx context.Context, dir Dir, name string) (i int, e Entry, err error) {
	if dir, err = Resolve(ctx, dir); err != nil {
		return -1, e, err
	}
	if i, err = dir.Find(ctx, name); err != nil {
		return -1, e, err
	}
	e, err = dir.At(ctx, i)
	return i, e, err
}

// Lookup returns the entry at a slash-separated path below root. The path
// "." is root itself. Symbolic links are not followed.
func Lookup(ctx context.Context, root Dir, name string) (Entry, error) {
	e := Entry{Name: ".", Dir: root}
	if name == "." {
		return e, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if e.Dir == nil {
			return Entry{}, NotExist("lookup", name)
		}
		next, err := Child(ctx, e.Dir, part)
		if err != nil {
			return Entry{}, err
		}
		e = next.Inherit(e.Attr)
	}
	return e, nil
}

// maxLinks is how many symbolic links a path may lead over, as in Linux.
const maxLinks = 40

// Follow returns the entry at a slash-separated path below root like Lookup,
// but follows symbolic links, also at the end of the path. None leads above
// root.
func Follow(ctx context.Context, root Dir, name string) (Entry, error) {
	w, err := FollowWay(ctx, Entry{Name: ".", Dir: root}, name)
	if err != nil {
		return Entry{}, err
	}
	return w.Last(), nil
}

// FollowWay returns the way that Follow takes from root.
func FollowWay(ctx context.Context, root Entry, name string) (Way, error) {
	fail := func(err error) (Way, error) { return Way{}, &fs.PathError{Op: "lookup", Path: name, Err: err} }
	way := Way{Entries: append(make([]Entry, 0, 2+strings.Count(name, "/")), root)}
	for rest := name; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		here := way.Last()
		switch {
		case part == "" || part == ".":
			continue
		case here.Dir == nil || part == ".." && len(way.Entries) == 1:
			return fail(fs.ErrNotExist)
		case part == "..":
			way.Entries = way.Entries[:len(way.Entries)-1]
			continue
		}
		next, err := Child(ctx, here.Dir, part)
		if err != nil {
			return Way{}, err
		}
		if next.Type() != fs.ModeSymlink {
			way.Entries = append(way.Entries, next.Inherit(here.Attr))
			continue
		}
		if way.Links++; way.Links > maxLinks {
			return fail(ErrTooManyLinks)
		}
		rest = next.Link + "/" + rest
	}
	return way, nil
}

// ErrTooManyLinks is the error of a path that leads over more links than that.
var ErrTooManyLinks = errors.New("too many symbolic links")

// Walk calls visit for root and everything listed below it, parents first,
// with paths relative to root ("." is root). Where a directory or an entry
// of it cannot be read, visit is called with the error as well; it may
// return fs.SkipDir to leave a directory out, or any other error to end the
// walk.
func Walk(ctx context.Context, root Dir, visit func(name string, e Entry, err error) error) error {
	err := walk(ctx, ".", Entry{Name: ".", Dir: root}, visit)
	if err == fs.SkipDir {
		return nil
	}
	return err
}

func walk(ctx context.Context, name string, e Entry, visit func(string, Entry, error) error) error {
	if err := visit(name, e, nil); err != nil || e.Dir == nil {
		return err
	}
	for child, err := range Entries(ctx, e) {
		switch at := path.Join(name, child.Name); {
		case err == nil:
			err = walk(ctx, at, child, visit)
		case ctx.Err() != nil:
			return ctx.Err()
		case child.Name == "":
			return visit(name, e, err)
		default:
			err = visit(at, child, err)
		}
		if err != nil && err != fs.SkipDir {
			return err
		}
	}
	return nil
}

// Entries yields what a listing of e shows, each entry with its time. An error that comes with a
// name is that of one entry; one without ends the listing.
func Entries(ctx context.Context, e Entry) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		dir, err := Snapshot(ctx, e.Dir)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for i, err := range Indexes(ctx, dir) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			child, err := dir.At(ctx, i)
			if !yield(child.Inherit(e.Attr), err) {
				return
			}
		}
	}
}

// Snapshot returns a directory as it is now.
func Snapshot(ctx context.Context, dir Dir) (Dir, error) {
	if v, ok := dir.(Volatile); ok {
		return v.Snapshot(ctx)
	}
	return dir, nil
}

// ReadFile returns the content of the file at a slash-separated path below root.
func ReadFile(ctx context.Context, root Dir, name string) ([]byte, error) {
	e, err := Lookup(ctx, root, name)
	if err != nil {
		return nil, err
	}
	if e.File == nil {
		return nil, errors.New("not a file")
	}
	return ReadAll(ctx, e.File)
}
