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
	items []*entry  // of the part, in its order
	left  []*Member // that are for the next part
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
	for _, e := range p.entries {
		if e.to != nil {
			mode &= e.to.Mode
		}
	}
	if p.info != nil {
		r, closeFile, err := p.directory.rows(p.at())
		if err != nil {
			return nil, err
		}
		defer closeFile()
		if w.old = r; !m.isOurs(p) {
			w.columns = r.Columns[len(columnar.OriginColumns(w.timeless)):]
		}
	}
	more, w.left = w.room(more)
	w.arrange(more)
	root, err := p.directory.folder(filepath.Dir(p.at()), true)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	out, err := outfile.CreateIn(root, p.last, mode)
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
	add := func(m *Member, before *entry) {
		l := m.line(w.table)
		w.items = append(w.items, &entry{line: &l, size: m.counts[w.table].size, m: m, before: before})
	}
	for _, e := range w.p.entries {
		for len(more) > 0 {
			if next := more[0].line(w.table); compareLines(&next, e.line) > 0 {
				break
			}
			add(more[0], nil)
			more = more[1:]
		}
		switch {
		case e.drop:
		case e.to != nil:
			add(e.to, e)
		default:
			w.items = append(w.items, e)
		}
	}
	for _, m := range more {
		add(m, nil)
	}
}

// wholeUnit returns the unit that begins with item i, nil unless all of its recordings follow
// unchanged.
func (w *partWriter) wholeUnit(i int) *unit {
	if i == len(w.items) || w.items[i].m != nil {
		return nil
	}
	u := w.items[i].from
	if n := len(u.entries); u.groups == 0 || i+n > len(w.items) || !slices.Equal(w.items[i:i+n], u.entries) {
		return nil
	}
	return u
}

// write writes the rows.
func (w *partWriter) write(ctx context.Context, out *outfile.File) (err error) {
	if w.w, err = w.x.z.NewWriter(out, w.allColumns()); err != nil {
		return err
	}
	var skipped []*Member
	defer func() { w.left = append(skipped, w.left...) }()
	for i := 0; i < len(w.items); {
		it, u := w.items[i], w.wholeUnit(i)
		isNew := it.m != nil && it.before == nil
		switch {
		case u != nil && w.copies(u, i):
			if err = w.flush(ctx); err == nil {
				err = w.copy(u)
			}
			i += len(u.entries)
		case u != nil:
			for _, e := range u.entries {
				if err == nil {
					err = w.add(ctx, e)
				}
			}
			i += len(u.entries)
		default:
			if isNew && !w.held.plus(it.size).fits() {
				err = w.flush(ctx)
			}
			if isNew && len(w.pending) == 0 && len(w.lines) > 0 && w.w.Size() >= w.m.PartSize {
				skipped = append(skipped, it.m)
			} else if err == nil {
				err = w.add(ctx, it)
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
func (w *partWriter) copies(u *unit, i int) bool {
	if u.groups > 1 {
		return true
	}
	if len(w.pending) > 0 && !w.held.plus(u.size).isHalf() {
		return false
	}
	end := i + len(u.entries)
	next := w.wholeUnit(end)
	return u.isHalf() || end == len(w.items) || next != nil && u.plus(next.size).isHalf()
}

// finish completes a part and gives it its name. A part without changes stays as it was, and one
// without recordings goes.
func (w *partWriter) finish(root *os.Root, out *outfile.File) error {
	told := w.p.told(len(w.lines))
	for _, e := range w.p.entries {
		if e.gone {
			told.Pruned = append(told.Pruned, e.line.path())
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
		if err = root.Remove(w.p.last); err == nil {
			out.Discard()
			w.p.removeEmpty(filepath.Dir(w.p.at()))
		}
	default:
		out.Discard()
		w.p.removeEmpty(filepath.Dir(w.p.at()))
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
