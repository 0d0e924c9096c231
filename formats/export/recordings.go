package export

import (
	"context"
	"io"
	"iter"
	"path/filepath"

	"recfs/formats/catalogue"
	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
)

// A rowCount is how many recordings recordings.parquet tells of.
type rowCount struct {
	Recordings, Unindexed int
}

// Recordings writes recordings.parquet, and returns how many recordings it has. Rows that it had of
// other recordings stay behind these, unless they are to go.
func (l *Lake) Recordings(ctx context.Context, list iter.Seq2[catalogue.Summary, error], goes func(format string) bool) (n rowCount, err error) {
	name := filepath.Join(l.dir, "recordings.parquet")
	err = l.replace(name, func(out io.WriterAt) error {
		n = rowCount{}
		w, err := l.z.NewWriter(out, catalogue.Columns())
		if err != nil {
			return err
		}
		seen := Places{}
		var page []catalogue.Summary
		flush := func() error {
			b := columnar.NewBatch(catalogue.Columns(), columnar.Group{Rows: len(page)})
			for i := range page {
				page[i].AddRow(b)
			}
			page = page[:0]
			return n.append(w, b)
		}
		for s, err := range list {
			if err != nil {
				return err
			}
			seen.Add("", s.Path)
			if page = append(page, s); len(page) == columnar.GroupRows {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		if err := flush(); err != nil {
			return err
		}
		if err := n.keep(w, name, seen, goes); err != nil {
			return err
		}
		_, err = w.Close(parquet.Pair{Key: "recfs.table", Value: "recordings"})
		return err
	})
	return n, err
}

// Columns of recordings.parquet.
const (
	pathColumn = iota
	formatColumn
	indexedColumn
	errorColumn = 13
)

// append writes rows.
func (n *rowCount) append(w *parquet.Writer, b *columnar.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	n.Recordings += b.Rows()
	format, indexed, failed := &b.Columns[formatColumn], &b.Columns[indexedColumn], &b.Columns[errorColumn]
	flag := 0
	for i := range b.Rows() {
		known := indexed.Valid[i]
		if known && !indexed.Bools[flag] && format.Valid[i] && !failed.Valid[i] {
			n.Unindexed++
		}
		if known {
			flag++
		}
	}
	return w.Append(b.Rows(), b.Columns)
}

// keep writes the rows of a file whose recordings were not seen.
func (n *rowCount) keep(w *parquet.Writer, name string, seen Places, goes func(format string) bool) error {
	r, closeFile, err := openRows(name)
	if err != nil || !r.Same(catalogue.Columns()) {
		return nil //nolint:nilerr // there is none, or none that is ours
	}
	defer closeFile()
	for g := range r.Groups() {
		all, err := r.ReadRows(g, 0, catalogue.Columns())
		if err != nil {
			return nil //nolint:nilerr // it is damaged
		}
		b := columnar.NewBatch(catalogue.Columns(), columnar.Group{Rows: all.Rows()})
		b.AppendIf(all, func(row int, values []int) bool {
			format := ""
			if all.Columns[formatColumn].Valid[row] {
				format = string(all.Columns[formatColumn].TextAt(values[formatColumn]))
			}
			return !seen.has("", parquet.EscapePath(string(all.Columns[pathColumn].TextAt(row)))) && !goes(format)
		})
		if err := n.append(w, b); err != nil {
			return err
		}
	}
	return nil
}
