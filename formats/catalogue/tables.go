package catalogue

import (
	"context"
	"slices"
	"strings"

	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/recordings"
	"recfs/nodes"
)

// tablesName is the directory of a recording with its tables (docs/tree/tables.md), and the one at
// the root of an archive, not listed, that shows the tables of all recordings by kind.
const tablesName = "tables"

// tablesOf returns the tables that a recording has, sorted by name.
func tablesOf(o *recordings.Opened) (list []ledger.Table) {
	for i := range o.Tables {
		list = append(list, ledger.Table{Name: o.Tables[i].Name, Size: ledger.Unknown})
	}
	slices.SortFunc(list, func(a, b ledger.Table) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// measure learns the sizes of tables from the tree of a recording that has an index, but for those
// that have to be made for it. It is the one place where a size is learnt: digests keep it, and
// records of the catalogue have it from them.
func measure(ctx context.Context, tree nodes.Dir, list []ledger.Table) error {
	for i, t := range list {
		e, err := nodes.Lookup(ctx, tree, tablePath(t.Name))
		if err != nil || e.File == nil {
			continue
		}
		if m, ok := e.File.(nodes.Measured); ok && !m.IsMeasured(ctx) {
			continue
		}
		n, err := e.File.Size(ctx)
		switch {
		case formats.IsShort(err):
			return err
		case err == nil:
			list[i].Size = n
		}
	}
	return nil
}

// tablePath returns where in the tree of a recording a table is.
func tablePath(table string) string { return tablesName + "/" + table + parquet.Extension }

// A tableRef is a table of one version of a recording. It is a value.
type tableRef struct {
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
		return nil, nodes.NotExist("lookup", t.name)
	}
	return e.File, nil
}

// A tableFile is a table as a file, whose recording is opened when it is read, or its size is not
// known. A listing leaves that out then where the recording does. It is a value.
type tableFile struct {
	nodes.DeferredFile[tableRef]
	size int64 // [ledger.Unknown]: only the recording tells
}

var _ nodes.Measured = tableFile{}

// tableOf returns a table of a recording.
func tableOf(r archive.Recording, t ledger.Table) tableFile {
	return tableFile{nodes.DeferredFile[tableRef]{Target: tableRef{r, t.Name}}, t.Size}
}

// Size implements nodes.File.
func (t tableFile) Size(ctx context.Context) (int64, error) {
	if t.size != ledger.Unknown {
		return t.size, nil
	}
	return t.DeferredFile.Size(ctx)
}

// Open implements nodes.File. A table of another size than is known is stale.
func (t tableFile) Open(ctx context.Context) (nodes.Content, error) {
	content, err := t.DeferredFile.Open(ctx)
	if err != nil || t.size == ledger.Unknown || content.Size() == t.size {
		return content, err
	}
	defer nodes.CloseContent(content)
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
