package parquet

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"
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

// A named file is of one recording. Each of its rows tells the path of that, and its metadata the
// last name of the path. Its size follows from the size for an empty path: zeros before the footer
// fill what a path does not need.

// BareSize returns the size of a named file for an empty path, with what it may need more for any
// path.
func BareSize(t columnar.Table, format string, timeless bool, o columnar.Origin) (int64, error) {
	o.Path = ""
	l, err := NewLayout(t.WithOrigin(timeless, o), Metadata(format, t.Name, "")...)
	if err != nil {
		return 0, err
	}
	// Offsets of pages and dictionaries, and what is told of the two columns, take longer numbers.
	const column, both = 4, 32
	return l.Size() + int64(len(t.Groups)*(column*len(t.Columns)+both)), nil
}

// NamedSize returns how many bytes a file has for a path, from its BareSize.
func NamedSize(bare int64, groups int, at string) int64 {
	more := len(at)
	if more <= maxOriginBound {
		more *= 3 // with both bounds
	}
	var source thrift
	source.text(path.Base(at))
	const empty = 1 // bytes of the name in bare
	size := bare + int64(len(source.b)-empty+groups*more)
	if size > block { // what follows a group may lie a block later
		size += int64(groups) * block
	}
	return size
}

// newNamedLayout returns the layout of a named file.
func newNamedLayout(t columnar.Table, format string, timeless bool, o columnar.Origin) (*Layout, error) {
	bare, err := BareSize(t, format, timeless, o)
	if err != nil {
		return nil, err
	}
	l, err := NewLayout(t.WithOrigin(timeless, o), Metadata(format, t.Name, path.Base(o.Path))...)
	if err != nil {
		return nil, err
	}
	more := NamedSize(bare, len(t.Groups), o.Path) - l.Size()
	if more < 0 {
		return nil, fmt.Errorf("%s takes %d bytes more than its size", t.Name, -more)
	}
	l.zeros += more
	return l, nil
}

// A Named is a table of a recording whose rows tell of which they are.
type Named struct {
	Table    *columnar.Maker
	Format   string
	Timeless bool
	Origin   func(ctx context.Context) (columnar.Origin, error)
}

// layout returns the layout of the table, which Table has made.
func (n *Named) layout(ctx context.Context, t columnar.Table) (*Layout, error) {
	o, err := n.Origin(ctx)
	if err != nil {
		return nil, err
	}
	return newNamedLayout(t, n.Format, n.Timeless, o)
}

// Bytes returns the whole file, of which nothing else is kept.
func (n *Named) Bytes(ctx context.Context) ([]byte, error) {
	t, err := n.Table.Make(ctx)
	if err != nil {
		return nil, err
	}
	l, err := n.layout(ctx, t)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(nodes.Reader(ctx, l.Content(func(ctx context.Context, i int) ([]byte, func(int), error) {
		b, err := l.Make(ctx, i, nil)
		return b, stays, err
	})))
}

// A Kind is a table of all recordings of a format.
type Kind struct {
	Format, Table string
	Single        bool // there is one file for all recordings
}

// ViewsBegin is what views.sql begins with.
const ViewsBegin = "-- recfs: "

// Views returns views.sql, which names what is below prefix in DuckDB: so many recordings, some of
// them without an index, and tables in their order. by is the key of the folders that parts of
// tables lie in, "" if there are none.
func Views(prefix string, recordings, unindexed int, kinds []Kind, by string) []byte {
	prefix = quote.Replace(prefix)
	s := "s"
	if recordings == 1 {
		s = ""
	}
	b := fmt.Appendf(nil, ViewsBegin+"%d recording%s, %d of them without an index\n", recordings, s, unindexed)
	b = fmt.Appendf(b, "create or replace view recordings as from read_parquet('%s/recordings.parquet');\n", prefix)
	for i, k := range kinds {
		if i == 0 || kinds[i-1].Format != k.Format {
			b = fmt.Appendf(b, "create schema if not exists %s;\n", k.Format)
		}
		files, hive := "/**/*.parquet", "hive_partitioning = false"
		switch {
		case k.Single:
			files = Extension
		case by != "":
			hive = "hive_partitioning = true, hive_types = {" + by + ": varchar}"
		}
		b = fmt.Appendf(b, "create or replace view %s.%s as from read_parquet('%s/%[1]s/%[2]s%[4]s', %[5]s);\n", k.Format, k.Table, prefix, files, hive)
	}
	return b
}

// quote writes a path as a glob in a string of SQL.
var quote = strings.NewReplacer("'", "''", "*", "[*]", "?", "[?]", "[", "[[]")
