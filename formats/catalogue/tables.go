package catalogue

import (
	"context"
	"slices"
	"strings"

	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/recordings"
	"recfs/nodes"
)

// tablesName is the directory at the root of an archive that shows the tables of all recordings by kind
// (docs/tree/tables.md), and that of a recording with its tables. The first one is not listed.
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
		e, err := nodes.Lookup(ctx, tree, tablesName+"/"+t.Name+parquet.Extension)
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
