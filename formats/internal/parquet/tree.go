package parquet

import (
	"context"
	"sync"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/nodes"
)

// Extension is that of the names of tables.
const Extension = ".parquet"

// Dir returns the directory tables/ of a recording: a file for each of its tables. One is made when
// its file is asked for.
func Dir(c *cache.Cache, src formats.Input, format string, tables func() []columnar.Maker) nodes.Dir {
	list := sync.OnceValue(func() nodes.Dir {
		r := newFiles(c, func(_ context.Context, t columnar.Table) (*Layout, error) {
			return NewLayout(t, Metadata(format, t.Name, src.Name)...)
		})
		var entries []nodes.Entry
		makers := tables()
		for i := range makers {
			entries = append(entries, nodes.Entry{Name: makers[i].Name + Extension, File: r.file(&makers[i])})
		}
		return nodes.List(entries...)
	})
	return nodes.Lazy(func(context.Context) (nodes.Dir, error) { return list(), nil })
}

// File returns the file of a table that is of no recording. It is made when it is asked for.
func File(c *cache.Cache, table *columnar.Maker, metadata ...Pair) nodes.File {
	return newFiles(c, func(_ context.Context, t columnar.Table) (*Layout, error) {
		return NewLayout(t, metadata...)
	}).file(table)
}

// NamedFile returns the file of n. It is made when it is asked for.
func NamedFile(c *cache.Cache, n *Named) nodes.File { return newFiles(c, n.layout).file(n.Table) }

// file returns the file of a table.
func (r *files) file(t *columnar.Maker) nodes.File {
	f := nodes.DeferredFile[file]{Target: file{r, t}}
	if t.Counted != nil {
		return countedFile{f, t}
	}
	return f
}

// A countedFile is a table whose size a listing leaves out until its rows were counted.
type countedFile struct {
	nodes.File
	table *columnar.Maker
}

var _ nodes.Measured = countedFile{}

// IsMeasured implements nodes.Measured.
func (f countedFile) IsMeasured(ctx context.Context) bool { return f.table.Counted(ctx) }

// files are tables of one version of a recording, or of a catalogue.
type files struct {
	layout  func(ctx context.Context, t columnar.Table) (*Layout, error)
	layouts *cache.Memo[*columnar.Maker, *Layout]
	groups  *cache.Memo[groupKey, *madeGroup]
}

func newFiles(c *cache.Cache, layout func(ctx context.Context, t columnar.Table) (*Layout, error)) *files {
	r := &files{layout: layout}
	r.layouts = cache.NewMemo(c, r.loadLayout)
	r.groups = cache.NewMemo(c, r.loadGroup).Peak(r.peak)
	return r
}

type groupKey struct {
	table *columnar.Maker
	group int
}

// A file is the Parquet of one table.
type file struct {
	r     *files
	table *columnar.Maker
}

// Resolve implements the target of a nodes.DeferredFile.
func (f file) Resolve(ctx context.Context) (nodes.File, error) {
	l, err := f.r.layouts.Get(ctx, f.table)
	if err != nil {
		return nil, err
	}
	return nodes.Stream(l.Size(), func(context.Context) (nodes.Content, error) {
		return l.Content(func(ctx context.Context, i int) ([]byte, func(int), error) {
			return f.r.use(ctx, groupKey{f.table, i})
		}), nil
	}), nil
}

func (r *files) loadLayout(ctx context.Context, table *columnar.Maker) (*Layout, int64, error) {
	t, err := table.Make(ctx)
	if err != nil {
		return nil, 0, err
	}
	l, err := r.layout(ctx, t)
	if err != nil {
		return nil, 0, err
	}
	return l, l.Cost(), nil
}

// peak is about what it takes to make a group: its bytes, and its flags and texts before they are
// part of them.
func (r *files) peak(k groupKey) int64 {
	n := int64(minPeak)
	if l, ok := r.layouts.Peek(k.table); ok {
		n += 2 * l.groupSize(k.group)
	}
	return n
}

// minPeak is what decoding takes besides rows.
const minPeak = 512 << 10

func (r *files) loadGroup(ctx context.Context, k groupKey) (*madeGroup, int64, error) {
	l, err := r.layouts.Get(ctx, k.table)
	if err != nil {
		return nil, 0, err
	}
	b, err := l.Make(ctx, k.group, takeBuffer(l.groupSize(k.group)))
	g := &madeGroup{bytes: b}
	g.left.Store(int64(len(b)))
	return g, int64(cap(b)), err
}
