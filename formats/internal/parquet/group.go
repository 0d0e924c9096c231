package parquet

import (
	"context"
	"slices"

	"recfs/formats/columnar"
	"recfs/nodes"
)

// Make returns the bytes of row group i, in place of those of b if there is room. If it has other rows than were counted,
// or more or fewer nulls or text, the error is [nodes.ErrStale]: they are of another version of the source.
func (l *Layout) Make(ctx context.Context, i int, b []byte) ([]byte, error) {
	g := &l.table.Groups[i]
	out := slices.Grow(b[:0], int(l.groupSize(i)))[:l.groupSize(i)]
	var columns []columnWriter
	rest := out
	place := func(v *columnar.Vector, c int) {
		p := planOf(&v.Column, g, c)
		columns = append(columns, newColumnWriter(rest[:0:p.total()], v, &p, &g.Columns[c]))
		rest = rest[p.total():]
	}
	batch := columnar.NewParts(l.table.Columns, *g, place, func(b *columnar.Batch) {
		for c := range columns {
			columns[c].add(&b.Columns[c])
		}
	})
	if err := l.table.Fill(ctx, batch, i); err != nil {
		return nil, err
	}
	batch.End()
	if batch.Rows() != g.Rows {
		return nil, nodes.SizeError(int64(g.Rows), int64(batch.Rows()))
	}
	for c := range columns {
		if err := columns[c].end(&batch.Columns[c]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// A columnWriter puts the values of a column where they belong in a row group, a part of the rows at a time. What is
// appended to one of its slices stays in the row group as long as it has room there.
type columnWriter struct {
	levels  []levelRun
	indexes levelRun // of a column with Words
	values  []byte
	size    int // of values
}

// A levelRun is a run that has a known number of bytes.
type levelRun struct {
	bitRun
	size int
}

// newColumnWriter begins the chunk of a column in out, which has its capacity.
func newColumnWriter(out []byte, v *columnar.Vector, p *plan, n *columnar.Counts) (w columnWriter) {
	d := wordsOf(v)
	if d != nil {
		out = dictionaryHeader(out, p.dictionary, p.dictionary, d.n)
		out = append(out, d.page...)
	}
	out = dataHeader(out, p.page, p.page, p.values, d.orElse(plainEncoding))
	rest := out[len(out):cap(out)]
	part := func(size int64) []byte {
		b := rest[:0:size]
		rest = rest[size:]
		return b
	}
	for width := 1; width <= levelsOf(&v.Column); width++ {
		size := levelsSize(p.values, width)
		w.levels = append(w.levels, levelRun{beginLevels(part(size), p.values, width), int(size)})
	}
	w.size = len(rest)
	switch {
	case d != nil:
		w.indexes = levelRun{beginIndexes(rest[:0], p.values-int(n.Nulls), indexWidth(d.n)), w.size}
	case v.Type == columnar.Bool:
		w.indexes = levelRun{bitRun{b: rest[:0], width: 1}, w.size}
	}
	w.values = rest[:0]
	place(v, rest)
	return w
}

// add adds the values of a part.
func (w *columnWriter) add(v *columnar.Vector) {
	switch {
	case v.Type == columnar.Texts:
		first, defined := listLevels(v)
		w.levels[0].numbers(first)
		w.levels[1].numbers(defined)
	case v.Nullable:
		w.levels[0].flags(v.Valid)
	}
	switch {
	case v.Words != nil:
		w.indexes.numbers(v.Int32s)
	case v.Type == columnar.Bool:
		w.indexes.flags(v.Bools)
	case !v.Placed:
		w.values = appendValues(w.values, v, 0, v.Len())
	}
}

// end ends the chunk of a column.
func (w *columnWriter) end(v *columnar.Vector) error {
	for i := range w.levels {
		if err := w.levels[i].check(); err != nil {
			return err
		}
	}
	switch {
	case w.indexes.b != nil:
		return w.indexes.check()
	case v.Placed:
		return checkSize(w.size, int(valuesSize(&v.Column, int64(v.Len()), 0)))
	}
	return checkSize(w.size, len(w.values))
}

// check ends a run.
func (r *levelRun) check() error { return checkSize(r.size, len(r.end())) }

func checkSize(want, size int) error {
	if size != want {
		return nodes.SizeError(int64(want), int64(size))
	}
	return nil
}
