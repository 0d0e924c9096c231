package rowcount_test

import (
	"reflect"
	"slices"
	"testing"

	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// mixed has a column of each type that rows are kept of.
var mixed = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Optional(columnar.Bool, "bool"), columnar.Optional(columnar.Int32, "int32"),
	columnar.Optional(columnar.Float, "float"), columnar.Optional(columnar.Double, "double"), columnar.Optional(columnar.Time, "time"),
	columnar.Optional(columnar.Text, "text"), columnar.Required(columnar.Text, "last"), columnar.Optional(columnar.Int64, "ninth"),
)

// addMixed adds n rows, in which each value but the first is null at some time.
func addMixed(b *columnar.Batch, n int) {
	for i := range n {
		b.Int64(int64(i) << 40)
		add := func(column int, value func()) {
			if i>>column&1 == 1 {
				b.Null()
				return
			}
			value()
		}
		add(0, func() { b.Bool(i%3 == 0) })
		add(1, func() { b.Int32(int32(-i)) })
		add(2, func() { b.Float(float32(i) / 3) })
		add(3, func() { b.Double(-float64(i) / 7) })
		add(4, func() { b.Int64(-int64(i)) })
		add(0, func() { b.Text("häärter"[:i%5]) })
		b.Text("")
		add(1, func() { b.Int64(int64(i)) })
	}
}

// mixedRows returns n rows as they are kept.
func mixedRows(n int) (*columnar.Batch, columnar.Group) {
	count := columnar.NewCounter(mixed)
	addMixed(count, n)
	g := columnar.Group{Rows: n}
	for i := range mixed {
		g.Columns = append(g.Columns, count.Columns[i].Counts)
	}
	b := columnar.NewBatch(mixed, g)
	addMixed(b, n)
	return b, g
}

// Rows are read as they were written, kept or counted, and so are their counts.
func TestRows(t *testing.T) {
	want, g := mixedRows(100)
	w, ends := &indexfile.Writer{}, 0
	rowcount.WriteRows(w, want, func() { ends++ })
	rowcount.CodeCounts(indexfile.Codec{W: w}, mixed, &g)
	r := indexfile.NewReader("test", w.Bytes())
	got := columnar.NewBatch(mixed, g)
	rowcount.ReadRows(r, got, 100)
	if ends != 100 || !reflect.DeepEqual(want.Columns, got.Columns) {
		t.Errorf("%d rows: %+v, want %+v", ends, got.Columns, want.Columns)
	}
	var is columnar.Group
	if rowcount.CodeCounts(indexfile.Codec{R: r}, mixed, &is); r.Close() != nil || !reflect.DeepEqual(is, g) {
		t.Errorf("%+v, want %+v: %v", is, g, r.Close())
	}
}

// FuzzRows reads rows that anybody made: no more of them than their bytes have.
func FuzzRows(f *testing.F) {
	b, _ := mixedRows(9)
	w := &indexfile.Writer{}
	rowcount.WriteRows(w, b, func() {})
	f.Add(w.Bytes(), 9)
	f.Add([]byte{0xff, 0xff}, 1<<40)
	f.Fuzz(func(t *testing.T, saved []byte, rows int) {
		b := columnar.NewCounter(mixed)
		rowcount.ReadRows(indexfile.NewReader("test", saved), b, rows)
		if b.Rows() > len(saved)+1 {
			t.Errorf("%d rows of %d bytes", b.Rows(), len(saved))
		}
	})
}
