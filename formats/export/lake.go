package export

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"recfs/formats/catalogue"
	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/formats/outfile"
)

// A Lake writes what a destination has besides the tables of each recording. That comes last.
type Lake struct {
	*Exporter
	To   *Destination
	Mode iofs.FileMode // of its files
	// Pruned says that what has no rows any more goes.
	Pruned bool
	Alien  func(file string, err error)
}

// Single writes the one file with a table of all recordings, unless it is up to date. The rows come
// in the given order of paths, those of other recordings last.
func (l *Lake) Single(ctx context.Context, format, table string, timeless bool, order []string) error {
	d := l.dirOf(format, table)
	all, columns, err := l.formerRows(d)
	if err != nil {
		return err
	}
	var list [][]*entry // of each recording
	for _, at := range slices.Concat(order, slices.Sorted(maps.Keys(all))) {
		if rows, ok := all[at]; ok {
			list = append(list, rows)
			delete(all, at)
		}
	}
	name := d.path + parquet.Extension
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %v\n", version, columns)
	for i := range list {
		x := list[i][0].line
		fmt.Fprintf(sum, "%q %d %s %s %s\n", x.path(), x.Rows, x.Stamp, x.Sum, x.Made)
	}
	made := hex.EncodeToString(sum.Sum(nil)[:16])
	m := l.dir.metadata(name)
	ours := m[madeKey] != "" && isOf(m, d)
	switch {
	case len(list) == 0 && ours && l.Pruned:
		return l.dir.remove(name)
	case len(list) == 0, ours && m[madeKey] == made:
		return nil
	}
	return l.write(name, func(out io.WriterAt) error {
		return l.writeSingle(ctx, out, d, timeless, columns, list, made)
	})
}

// writeSingle writes the file of a table that has the rows of all recordings.
func (l *Lake) writeSingle(ctx context.Context, out io.WriterAt, d tableDir, timeless bool, columns []columnar.Column, list [][]*entry, made string) error {
	g := groupWriter{x: l.Exporter, timeless: timeless, table: d.table, columns: columns[len(columnar.OriginColumns(timeless)):]}
	var err error
	if g.w, err = l.z.NewWriter(out, g.allColumns()); err != nil {
		return err
	}
	for _, e := range slices.Concat(list...) {
		if err := g.add(ctx, e); err != nil {
			return err
		}
	}
	if err := g.flush(ctx); err != nil {
		return err
	}
	_, err = g.w.Close(parquet.Pair{Key: "recfs.table", Value: d.table}, parquet.Pair{Key: "recfs.format", Value: d.format},
		parquet.Pair{Key: recordingsKey, Value: strconv.Itoa(len(list))}, parquet.Pair{Key: "recfs.unindexed", Value: "0"}, parquet.Pair{Key: madeKey, Value: made})
	return err
}

// formerRows returns the rows in the files of a table by recording, one entry at least, and their
// columns.
func (l *Lake) formerRows(d tableDir) (all map[string][]*entry, columns []columnar.Column, err error) {
	all = map[string][]*entry{}
	take := func(p *part) {
		if columns == nil {
			columns = p.rows.Columns
		}
		wide, ok := columnar.Widen(columns, p.rows.Columns)
		if !ok {
			l.Alien(p.name(p.at()), errors.New("it has other columns than other files"))
			return
		}
		columns = wide
		p.addTo(all)
	}
	var failed error
	pass := func(file string, err error) {
		if why := unread(err); why != nil {
			failed = fmt.Errorf("%s: %w", file, why)
		}
	}
	if l.To.form.Merge {
		parts, _, err := d.findParts(l.To.form.By, Shard{1, 1}, pass)
		if err != nil {
			return nil, nil, err
		}
		for _, folder := range slices.Sorted(maps.Keys(parts)) {
			for _, p := range parts[folder] {
				take(p)
			}
		}
		return all, columns, failed
	}
	err = d.files(func(name string) {
		p, err := openOwn(d, name)
		if err == nil {
			take(p)
		} else {
			pass(d.name(filepath.Join(d.path, name)), err)
		}
	})
	if errors.Is(err, iofs.ErrNotExist) {
		err = nil
	}
	return all, columns, cmp.Or(err, failed)
}

// addTo adds the rows of a part, each row group of a large recording by itself.
func (p *part) addTo(all map[string][]*entry) {
	for _, e := range p.entries {
		rows := []*entry{e}
		if u := e.from; u.groups > 1 {
			rows = nil
			for g := range u.groups {
				one := p.unit(u.group+g, 1)
				rows = append(rows, &entry{line: e.line, size: one.size, from: one})
			}
		}
		all[e.line.path()] = rows
	}
}

// Views writes views.sql, of all tables that there are.
func (l *Lake) Views(prefix string, recordings, unindexed int, single func(format, table string) bool) error {
	if prefix == "" {
		at, err := filepath.Abs(string(l.dir))
		if err == nil {
			at, err = filepath.EvalSymlinks(at)
		}
		if err != nil {
			return err
		}
		prefix = at
	}
	dirs, _, err := l.To.tableDirs()
	if err != nil {
		return err
	}
	var kinds []parquet.Kind
	for _, d := range dirs {
		kinds = append(kinds, parquet.Kind{Format: d.format, Table: d.table, Single: single(d.format, d.table)})
	}
	slices.SortFunc(kinds, func(a, b parquet.Kind) int { return strings.Compare(a.Format+"/"+a.Table, b.Format+"/"+b.Table) })
	by := l.To.form.By
	if by == ByNone {
		by = ""
	}
	return l.replace("views.sql", func(out io.WriterAt) error {
		_, err := out.WriteAt(parquet.Views(prefix, recordings, unindexed, kinds, by), 0)
		return err
	})
}

// replace writes a file, unless it has the bytes that write writes.
func (l *Lake) replace(name string, write func(out io.WriterAt) error) error {
	if old, err := l.dir.open(name); err == nil {
		defer old.Close()
		c := &comparison{old: old}
		err := write(c)
		if info, failed := old.Stat(); err == nil && failed == nil && info.Size() == c.size {
			return nil
		}
		if err != nil && !errors.Is(err, errOther) {
			return err
		}
	}
	return l.write(name, write)
}

// write writes a file.
func (l *Lake) write(name string, write func(out io.WriterAt) error) error {
	if err := l.dir.mayReplace(name); err != nil {
		l.Alien(l.dir.name(name), err)
		return nil
	}
	return l.dir.write(name, l.Mode, func(out *outfile.File) error {
		out.Limit(l.Mode)
		out.Durable = true // it may have rows of recordings that are gone
		return write(out)
	})
}

// A comparison compares what is written with a file, and fails with errOther where it is another.
type comparison struct {
	old  *os.File
	size int64
}

var errOther = errors.New("another file")

// WriteAt implements io.WriterAt.
func (c *comparison) WriteAt(b []byte, off int64) (int, error) {
	there := make([]byte, len(b))
	if _, err := c.old.ReadAt(there, off); err != nil || !bytes.Equal(b, there) {
		return 0, errOther
	}
	c.size = max(c.size, off+int64(len(b)))
	return len(b), nil
}

// A rowCount is how many recordings recordings.parquet tells of.
type rowCount struct {
	Recordings, Unindexed int
}

// recordingsName is the name of the file of all recordings.
const recordingsName = "recordings.parquet"

// Recordings writes recordings.parquet, and returns how many recordings it has. Rows that it had of
// other recordings stay behind these, unless they are to go.
func (l *Lake) Recordings(ctx context.Context, list iter.Seq2[catalogue.Summary, error], goes func(format string) bool) (n rowCount, err error) {
	err = l.replace(recordingsName, func(out io.WriterAt) error {
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
		if err := n.keep(w, l.dir, seen, goes); err != nil {
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

// keep writes the rows of the file that is there whose recordings were not seen.
func (n *rowCount) keep(w *parquet.Writer, d directory, seen Places, goes func(format string) bool) error {
	r, closeFile, err := d.rows(recordingsName)
	if unread(err) != nil {
		return err
	}
	if err != nil || !r.Same(catalogue.Columns()) {
		return nil //nolint:nilerr // there is none, or none that is ours
	}
	defer closeFile()
	for g := range r.Groups() {
		all, err := r.ReadRows(g, 0, catalogue.Columns())
		if unread(err) != nil {
			return err
		}
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
