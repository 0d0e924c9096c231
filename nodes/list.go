package nodes

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strings"
)

type list struct{ entries []Entry }

// List returns a Dir of the given entries, sorted by name. Only the first of several entries with
// one name is kept; entries without a name are left out, so that an optional entry can be written
// as a conditional value.
func List(entries ...Entry) Dir {
	entries = slices.DeleteFunc(entries, func(e Entry) bool { return e.Name == "" })
	slices.SortStableFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	entries = slices.CompactFunc(entries, func(a, b Entry) bool { return a.Name == b.Name })
	return &list{entries}
}

func (l *list) Len(context.Context) (int, error) { return len(l.entries), nil }

func (l *list) At(_ context.Context, i int) (Entry, error) {
	if i < 0 || i >= len(l.entries) {
		return Entry{}, NotExist("find", fmt.Sprint(i))
	}
	return l.entries[i], nil
}

func (l *list) Find(_ context.Context, name string) (int, error) {
	i := sort.Search(len(l.entries), func(i int) bool { return l.entries[i].Name >= name })
	if i == len(l.entries) || l.entries[i].Name != name {
		return 0, NotExist("find", name)
	}
	return i, nil
}

// NotExist is the error of a name, or of an index in decimal, that a directory does not have.
func NotExist(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

type alias struct {
	Dir
	listed func(name string) (string, bool)
}

// Alias returns dir with a second way to open its entries: a name that dir
// does not have is looked for again as listed(name), if that returns true.
func Alias(dir Dir, listed func(name string) (string, bool)) Dir {
	return &alias{dir, listed}
}

func (a *alias) Find(ctx context.Context, name string) (int, error) {
	i, err := a.Dir.Find(ctx, name)
	if err == nil {
		return i, nil
	}
	if other, ok := a.listed(name); ok && other != name {
		return a.Dir.Find(ctx, other)
	}
	return 0, err
}

// AppendName implements Namer.
func (a *alias) AppendName(ctx context.Context, b []byte, i int) ([]byte, fs.FileMode, error) {
	return AppendName(ctx, a.Dir, b, i)
}

// Unlisted returns dir, in which one more entry opens that it does not list.
func Unlisted(dir Dir, more Entry) Dir { return &unlistedEntry{dir, more} }

type unlistedEntry struct {
	Dir
	more Entry
}

func (u *unlistedEntry) At(ctx context.Context, i int) (Entry, error) {
	if i == unlisted {
		return u.more, nil
	}
	return u.Dir.At(ctx, i)
}

func (u *unlistedEntry) Find(ctx context.Context, name string) (int, error) {
	if name == u.more.Name {
		return unlisted, nil
	}
	return u.Dir.Find(ctx, name)
}

// Lazy returns a Dir that is made when it is first looked into. It calls
// open for every operation, so open must be cheap once its result exists:
// the Get of a Memo.
func Lazy(open func(context.Context) (Dir, error)) Dir {
	return &Deferred[*opener[Dir]]{&opener[Dir]{open}}
}

// An opener resolves to what a function returns.
type opener[T any] struct {
	open func(context.Context) (T, error)
}

func (o *opener[T]) Resolve(ctx context.Context) (T, error) { return o.open(ctx) }

// A Deferred is the Dir that Target resolves to, at every operation. It is
// equal to another with an equal target.
type Deferred[T interface {
	Resolve(ctx context.Context) (Dir, error)
}] struct{ Target T }

// Resolve implements Resolver.
func (d Deferred[T]) Resolve(ctx context.Context) (Dir, error) { return d.Target.Resolve(ctx) }

// Len implements Dir.
func (d Deferred[T]) Len(ctx context.Context) (int, error) {
	dir, err := d.Resolve(ctx)
	if err != nil {
		return 0, err
	}
	return dir.Len(ctx)
}

// At implements Dir.
func (d Deferred[T]) At(ctx context.Context, i int) (Entry, error) {
	dir, err := d.Resolve(ctx)
	if err != nil {
		return Entry{}, err
	}
	return dir.At(ctx, i)
}

// Find implements Dir.
func (d Deferred[T]) Find(ctx context.Context, name string) (int, error) {
	dir, err := d.Resolve(ctx)
	if err != nil {
		return 0, err
	}
	return dir.Find(ctx, name)
}

// AppendName implements Namer.
func (d Deferred[T]) AppendName(ctx context.Context, b []byte, i int) ([]byte, fs.FileMode, error) {
	dir, err := d.Resolve(ctx)
	if err != nil {
		return b, 0, err
	}
	return AppendName(ctx, dir, b, i)
}
