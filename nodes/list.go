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

// List returns a Dir of the given entries, sorted by name. Of entries with
// the same name only the first is kept; entries without a name are left out,
// so that an optional entry can be written as a conditional value.
func List(entries ...Entry) Dir {
	entries = slices.DeleteFunc(entries, func(e Entry) bool { return e.Name == "" })
	slices.SortStableFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	entries = slices.CompactFunc(entries, func(a, b Entry) bool { return a.Name == b.Name })
	return &list{entries}
}

func (l *list) Len(context.Context) (int, error) { return len(l.entries), nil }

func (l *list) At(_ context.Context, i int) (Entry, error) {
	if i < 0 || i >= len(l.entries) {
		return Entry{}, notExist(fmt.Sprint(i))
	}
	return l.entries[i], nil
}

func (l *list) Find(_ context.Context, name string) (int, error) {
	i := sort.Search(len(l.entries), func(i int) bool { return l.entries[i].Name >= name })
	if i == len(l.entries) || l.entries[i].Name != name {
		return 0, notExist(name)
	}
	return i, nil
}

func notExist(name string) error {
	return &fs.PathError{Op: "find", Path: name, Err: fs.ErrNotExist}
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

type lazy struct {
	open func(context.Context) (Dir, error)
}

// Lazy returns a Dir that is made when it is first looked into. It calls
// open for every operation, so open must be cheap once its result exists:
// the Get of a Memo.
func Lazy(open func(context.Context) (Dir, error)) Dir { return &lazy{open} }

func (l *lazy) Resolve(ctx context.Context) (Dir, error) { return l.open(ctx) }

func (l *lazy) Len(ctx context.Context) (int, error) {
	d, err := l.open(ctx)
	if err != nil {
		return 0, err
	}
	return d.Len(ctx)
}

func (l *lazy) At(ctx context.Context, i int) (Entry, error) {
	d, err := l.open(ctx)
	if err != nil {
		return Entry{}, err
	}
	return d.At(ctx, i)
}

func (l *lazy) Find(ctx context.Context, name string) (int, error) {
	d, err := l.open(ctx)
	if err != nil {
		return 0, err
	}
	return d.Find(ctx, name)
}
