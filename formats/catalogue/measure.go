package catalogue

import (
	"context"
	"slices"
	"strings"
	"time"

	"recfs/formats/archive"
	"recfs/formats/columnar"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/recordings"
)

// tablesOf returns the tables that a recording has, sorted by name.
func tablesOf(o *recordings.Opened) (list []ledger.Table) {
	for _, t := range o.Tables() {
		list = append(list, ledger.Table{Name: t.Name, Size: ledger.Unknown})
	}
	slices.SortFunc(list, func(a, b ledger.Table) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// measure learns what the catalogue keeps of the tables of an indexed recording: their sizes,
// unless rows have to be made for that or depend on files beside it, and the rows of tables that
// one file has for all recordings. start is that of the recording.
func measure(ctx context.Context, r archive.Recording, o *recordings.Opened, start *string, list []ledger.Table) error {
	format := r.Format()
	for _, m := range o.Tables() {
		single := format.SingleTable(m.Name)
		sized := format.Beside == nil && (m.Counted == nil || m.Counted(ctx))
		if !sized && single == nil {
			continue
		}
		to := &list[slices.IndexFunc(list, func(t ledger.Table) bool { return t.Name == m.Name })]
		t, err := m.Make(ctx)
		if err == nil && sized {
			to.Groups = len(t.Groups)
			to.Size, err = parquet.BareSize(t, format.Name, format.Timeless, originOf("", start))
		}
		if err == nil && single != nil {
			err = keepRows(ctx, &t, single.Columns, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// originOf returns what each row tells of a recording at a path with a start, which may be nil.
func originOf(at string, start *string) columnar.Origin {
	o := columnar.Origin{Path: string([]rune(at))} // U+FFFD, as in recordings.jsonl
	if start != nil {
		if t, err := time.Parse(time.RFC3339Nano, *start); err == nil {
			o.Start, o.Dated = t.UnixMicro(), true
		}
	}
	return o
}

// soundTables reports whether saved tables are some that a recording may have.
func soundTables(list []ledger.Table) bool {
	for i, t := range list {
		name := strings.ContainsFunc(t.Name, func(c rune) bool { return (c < 'a' || c > 'z') && c != '_' })
		if t.Name == "" || name || t.Size < ledger.Unknown || t.Groups < 0 || t.Packed < 0 || i > 0 && list[i-1].Name >= t.Name {
			return false
		}
	}
	return true
}
