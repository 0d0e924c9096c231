package export

import (
	"context"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/formats/outfile"
)

// A partWriter writes a part, in place of an old one if there is one.
type partWriter struct {
	groupWriter
	m     *tableMerge
	p     *part
	r     *parquet.Reader // of the old part
	items []item
	left  []*Member // that are for the next part
}

// An item is a recording of a part, in its order.
type item struct {
	*entry
	at    int // of the lines of the old part; -1: it is in none
	stays bool
}

// rewrite writes a part anew, with its changes and more recordings. It returns those for which it
// has no room, and notes in moved those that it wrote.
func (m *tableMerge) rewrite(ctx context.Context, p *part, more []*Member, moved map[*Member]bool) (left []*Member, err error) {
	w := &partWriter{m: m, p: p}
	w.groupWriter = groupWriter{x: m.Exporter, timeless: m.timeless(), table: m.table, columns: m.columns, fail: m.Fail}
	mode := iofs.FileMode(0o666)
	for _, member := range more {
		mode &= member.Mode
	}
	for _, c := range m.changes[p] {
		if c.to != nil {
			mode &= c.to.Mode
		}
	}
	if p.info != nil {
		r, closeFile, err := openRows(p.at())
		if err != nil {
			return nil, err
		}
		defer closeFile()
		if w.r = r; !m.isOurs(p) {
			w.columns = r.Columns[len(columnar.OriginColumns(w.timeless)):]
		}
	}
	more, w.left = w.room(more)
	w.arrange(more)
	root, err := tableRoot(p.at())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	out, err := outfile.CreateIn(root, p.name, mode)
	if err != nil {
		return nil, err
	}
	defer out.Discard()
	out.Limit(mode)
	out.Durable = true // it may have rows of recordings that are gone
	if err := w.write(ctx, out); err != nil {
		return nil, err
	}
	for _, member := range w.made {
		moved[member] = true
	}
	return w.left, w.finish(root, out)
}

// room divides recordings into those for which the manifest has room, and the rest.
func (w *partWriter) room(more []*Member) (fit, left []*Member) {
	n := 0
	for i := range w.p.lines {
		n += w.p.lines[i].size()
	}
	for i, m := range more {
		l := m.line(w.table)
		if n += l.size(); n > maxManifest/2 && i+len(w.p.lines) > 0 {
			return more[:i], more[i:]
		}
	}
	return more, nil
}

// arrange puts the recordings of the part into their order.
func (w *partWriter) arrange(more []*Member) {
	add := func(m *Member) {
		l := m.line(w.table)
		w.items = append(w.items, item{entry: &entry{line: &l, rows: l.Rows, bytes: m.counts[w.table].bytes, m: m}, at: -1})
	}
	w.p.each(func(i int, e *entry) {
		for len(more) > 0 {
			if next := more[0].line(w.table); compareLines(&next, e.line) > 0 {
				break
			}
			add(more[0])
			more = more[1:]
		}
		switch c := w.m.changes[w.p][i]; {
		case c.drop:
		case c.to != nil:
			add(c.to)
			last := &w.items[len(w.items)-1]
			last.at, last.before = i, e
		default:
			w.items = append(w.items, item{e, i, true})
		}
	})
	for _, m := range more {
		add(m)
	}
}

// wholeUnit returns the unit that begins with item i, if all of its items follow unchanged.
func (w *partWriter) wholeUnit(i int) (u unit, ok bool) {
	if i == len(w.items) || !w.items[i].stays {
		return u, false
	}
	at := slices.IndexFunc(w.p.units, func(u unit) bool { return u.line == w.items[i].at && u.groups > 0 })
	if at < 0 {
		return u, false
	}
	u = w.p.units[at]
	if i+u.lines > len(w.items) {
		return u, false
	}
	for k := range u.lines {
		if it := &w.items[i+k]; !it.stays || it.at != u.line+k {
			return u, false
		}
	}
	return u, true
}

// write writes the rows.
func (w *partWriter) write(ctx context.Context, out *outfile.File) (err error) {
	if w.w, err = w.x.z.NewWriter(out, w.allColumns()); err != nil {
		return err
	}
	var skipped []*Member
	defer func() { w.left = append(skipped, w.left...) }()
	for i := 0; i < len(w.items); {
		it := &w.items[i]
		u, whole := w.wholeUnit(i)
		switch {
		case whole && w.copies(u, i):
			if err = w.flush(ctx); err == nil {
				err = w.copyUnit(u)
			}
			i += u.lines
		case whole:
			for k := range u.lines {
				if err == nil {
					err = w.add(ctx, w.items[i+k].entry)
				}
			}
			i += u.lines
		default:
			if it.at < 0 && !w.held.plus(it.size()).fits() {
				err = w.flush(ctx)
			}
			if it.at < 0 && len(w.pending) == 0 && len(w.lines) > 0 && w.w.Size() >= w.m.PartSize {
				skipped = append(skipped, it.m)
			} else if err == nil {
				err = w.add(ctx, it.entry)
			}
			i++
		}
		if err != nil {
			return err
		}
	}
	return w.flush(ctx)
}

// copies reports whether the unit that begins with item i is copied as it is. No two neighbouring
// row groups are to be less than half full.
func (w *partWriter) copies(u unit, i int) bool {
	n := w.p.size(u)
	if u.groups > 1 {
		return true
	}
	if len(w.pending) > 0 && !w.held.plus(n).isHalf() {
		return false
	}
	next, whole := w.wholeUnit(i + u.lines)
	return n.isHalf() || i+u.lines == len(w.items) || whole && n.plus(w.p.size(next)).isHalf()
}

// copyUnit copies a unit.
func (w *partWriter) copyUnit(u unit) error {
	for g := range u.groups {
		if err := w.w.Copy(w.r, u.group+g); err != nil {
			return err
		}
	}
	for i := u.line; i < u.line+u.lines; i++ {
		w.wrote(&entry{line: &w.p.lines[i], rows: w.p.lines[i].Rows})
	}
	return nil
}

// finish completes a part and gives it its name. A part without changes stays as it was, and one
// without recordings goes.
func (w *partWriter) finish(root *os.Root, out *outfile.File) error {
	told := w.p.told(len(w.lines))
	for i, c := range w.m.changes[w.p] {
		if c.gone {
			told.Pruned = append(told.Pruned, w.p.lines[i].path())
		}
	}
	var err error
	switch {
	case w.p.info != nil && slices.Equal(w.lines, w.p.lines):
		told.Same = true
	case len(w.lines) > 0:
		told.Rows, told.Size = &w.rows, new(int64)
		*told.Size, err = w.close(out)
	case w.p.info != nil:
		told.Removed = true
		if err = root.Remove(w.p.name); err == nil {
			out.Discard()
			removeEmpty(w.x.dir, filepath.Dir(w.p.at()))
		}
	default:
		out.Discard()
		removeEmpty(w.x.dir, filepath.Dir(w.p.at()))
		return nil
	}
	if err == nil {
		w.m.Tell(told)
	}
	return err
}

// close writes the manifest and the footer.
func (w *partWriter) close(out *outfile.File) (size int64, err error) {
	packed, err := manifest(w.lines)
	if err != nil {
		return 0, err
	}
	at := w.w.Size()
	if _, err := w.w.Write(packed); err != nil {
		return 0, err
	}
	size, err = w.w.Close(parquet.Pair{Key: "recfs.table", Value: w.m.table}, parquet.Pair{Key: "recfs.format", Value: w.m.format},
		parquet.Pair{Key: byKey, Value: w.m.By}, parquet.Pair{Key: recordingsKey, Value: strconv.Itoa(len(w.lines))},
		parquet.Pair{Key: manifestKey, Value: strconv.FormatInt(at, 10) + " " + strconv.Itoa(len(packed))})
	if err == nil {
		err = out.Truncate(size)
	}
	if err == nil {
		err = out.Commit()
	}
	return size, err
}
