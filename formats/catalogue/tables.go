package catalogue

import (
	"context"
	"errors"
	iofs "io/fs"
	"path"
	"slices"
	"strings"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/recordings"
	"recfs/nodes"
)

// tablesName is the directory at the root of an archive that shows the tables of all recordings by kind
// (docs/tree/tables.md). It is not listed.
const tablesName = "tables"

// tablesOf returns the tables that a recording has, sorted by name.
func tablesOf(o *recordings.Opened) (list []ledger.Table) {
	for i := range o.Tables {
		list = append(list, ledger.Table{Name: o.Tables[i].Name, Size: ledger.Unknown})
	}
	slices.SortFunc(list, func(a, b ledger.Table) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// measure learns the sizes of tables from the tree of a recording that has an index, but for those that have to be
// made for it.
func measure(ctx context.Context, tree nodes.Dir, list []ledger.Table) {
	for i, t := range list {
		e, err := nodes.Lookup(ctx, tree, tablePath(t.Name))
		if err != nil || e.File == nil {
			continue
		}
		if m, ok := e.File.(nodes.Measured); ok && !m.IsMeasured(ctx) {
			continue
		}
		if n, err := e.File.Size(ctx); err == nil {
			list[i].Size = n
		}
	}
}

// tablePath returns where in the tree of a recording a table is.
func tablePath(table string) string { return archive.TablesName + "/" + table + parquet.Extension }

// A tablesPart is the part of a digest that tells of the tables of a recording.
type tablesPart struct {
	Stamp    formats.Stamp
	TablesAt int // where in the tree their directory is
	Tables   []ledger.Table
}

// sound reports whether what was saved is of tables that a recording may have.
func (t *tablesPart) sound() bool { return t.TablesAt >= 0 && soundTables(t.Tables) }

// digested is what digests tell of tables.
type digested struct {
	saved  func(archive.Recording) (tablesPart, bool)                   // what is kept
	remake func(context.Context, archive.Recording) (tablesPart, error) // a digest
	told   *cache.Recent[toldKey, retold]                               // of those that were made again
}

// A retold is what a digest told of tables before it was made again, and tells since.
type retold struct{ before, since tablesPart }

// A toldKey is a version of a recording, which its name and stamp tell: that of one in a container says in which.
type toldKey struct {
	name  string
	stamp formats.Stamp
}

func toldKeyOf(r archive.Recording) toldKey { return toldKey{path.Base(r.Path()), r.Stamp()} }

// maxTold is of how many versions at least it is known what was told wrongly of their tables.
const maxTold = 1 << 10

// of returns what the digest of a recording tells of its tables, or told before it was made again.
func (d *digested) of(r archive.Recording) (tablesPart, bool) {
	if t, ok := d.told.Get(toldKeyOf(r)); ok {
		return t.before, true
	}
	return d.saved(r)
}

// wrong reports whether a digest of that version told what is not so.
func (d *digested) wrong(r archive.Recording) bool {
	_, ok := d.told.Get(toldKeyOf(r))
	return ok
}

// outdated reports whether a record has a size from before the digest of that version was made again.
func (d *digested) outdated(r *ledger.Record) bool {
	t, ok := d.told.Get(toldKey{path.Base(r.Path), r.Stamp})
	return ok && slices.ContainsFunc(r.Tables, func(table ledger.Table) bool {
		return table.Size != ledger.Unknown && !slices.Contains(t.since.Tables, table)
	})
}

// heal makes the digest of a recording again, as it tells of a table another size than that has. Who was told of it
// is told the same until this process ends: the kernel keeps sizes, and what it reads by them must not be cut.
func (d *digested) heal(ctx context.Context, r archive.Recording) {
	if d.wrong(r) {
		return
	}
	before, _ := d.saved(r)
	if since, err := d.remake(ctx, r); err == nil {
		d.told.Swap(toldKeyOf(r), retold{before, since})
	}
}

// errUnknown says that the tables of a version of a recording are not known.
var errUnknown = errors.New("no digest")

// shown returns the tables of a recording as they are shown before it is opened.
func (d *digested) shown(r archive.Recording) (*archive.Tables, error) {
	t, ok := d.of(r)
	if !ok || len(t.Tables) == 0 || !r.Stamp().Same(t.Stamp) {
		return nil, errUnknown
	}
	entries := make([]nodes.Entry, len(t.Tables))
	for i, table := range t.Tables {
		entries[i] = nodes.Entry{Name: table.Name + parquet.Extension, File: d.tableOf(r, table)}
	}
	return &archive.Tables{At: t.TablesAt, Dir: nodes.List(entries...)}, nil
}

func notExist(name string) error {
	return &iofs.PathError{Op: "lookup", Path: name, Err: iofs.ErrNotExist}
}

// A tableRef is a table of one version of a recording. It is a value.
type tableRef struct {
	known     *digested
	recording archive.Recording
	name      string
}

// Resolve implements the target of a nodes.DeferredFile.
func (t tableRef) Resolve(ctx context.Context) (nodes.File, error) {
	tree, err := t.recording.Tree(ctx)
	if err != nil {
		return nil, err
	}
	e, err := nodes.Lookup(ctx, tree, tablePath(t.name))
	if err != nil {
		return nil, err
	}
	if e.File == nil {
		return nil, notExist(t.name)
	}
	return e.File, nil
}

// A tableFile is a table as a file, whose recording is opened when it is read, or its size is not known. A
// listing leaves that out then where the recording does. It is a value.
type tableFile struct {
	nodes.DeferredFile[tableRef]
	size int64 // [ledger.Unknown]: only the recording tells
}

var _ nodes.Measured = tableFile{}

// tableOf returns a table of a recording.
func (d *digested) tableOf(r archive.Recording, t ledger.Table) tableFile {
	return tableFile{nodes.DeferredFile[tableRef]{Target: tableRef{d, r, t.Name}}, t.Size}
}

// Size implements nodes.File.
func (t tableFile) Size(ctx context.Context) (int64, error) {
	if t.size != ledger.Unknown {
		return t.size, nil
	}
	return t.DeferredFile.Size(ctx)
}

// Open implements nodes.File. A table of another size is stale, and then the digest is made again.
func (t tableFile) Open(ctx context.Context) (nodes.Content, error) {
	content, err := t.DeferredFile.Open(ctx)
	if err != nil || t.size == ledger.Unknown || content.Size() == t.size {
		return content, err
	}
	defer nodes.CloseContent(content)
	t.Target.known.heal(ctx, t.Target.recording)
	return nil, nodes.SizeError(t.size, content.Size())
}

// IsMeasured implements nodes.Measured.
func (t tableFile) IsMeasured(ctx context.Context) bool {
	if t.size != ledger.Unknown {
		return true
	}
	f, err := t.Target.Resolve(ctx)
	if err != nil {
		return true // there is nothing to make
	}
	m, ok := f.(nodes.Measured)
	return !ok || m.IsMeasured(ctx)
}

// soundTables reports whether saved tables are some that a recording may have.
func soundTables(list []ledger.Table) bool {
	for i, t := range list {
		name := strings.ContainsFunc(t.Name, func(c rune) bool { return (c < 'a' || c > 'z') && c != '_' })
		if t.Name == "" || name || t.Size < ledger.Unknown || i > 0 && list[i-1].Name >= t.Name {
			return false
		}
	}
	return true
}

// tablesPath returns where below tables/FORMAT/TABLE a recording is found: its path, in which what engines
// take for something else is % and two hex digits, and the extension of tables.
func tablesPath(at string) string {
	parts := strings.Split(at, "/")
	for i, name := range parts {
		parts[i] = parquet.EscapeName(name)
	}
	return strings.Join(parts, "/") + parquet.Extension
}
