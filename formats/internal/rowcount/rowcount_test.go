package rowcount_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

var columns = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Optional(columnar.Int32, "n"), columnar.Required(columnar.Double, "x"),
	columnar.Optional(columnar.Text, "text"), columnar.OneOf("word", true, "a", "b"), columnar.Required(columnar.Bool, "flag"),
)

// add counts a row.
func add(c *rowcount.Counter, n int) {
	c.Int64(int64(n))
	c.FitInt32(int64(n) << 30)
	c.Double(float64(n) / 4)
	c.Text("text"[:n&3])
	if n%2 == 0 {
		c.Null()
	} else {
		c.Word(1)
	}
	c.Bool(n%2 == 0)
	c.EndRow()
}

// save returns a Counter as it is after it was saved.
func save(t rapid.TB, c *rowcount.Counter) *rowcount.Counter {
	w := indexfile.NewWriter(formats.Seal{}, 0)
	rowcount.Code(indexfile.Codec{W: w}, &c, columns)
	r, _ := indexfile.Open("test", w.Bytes())
	var d *rowcount.Counter
	rowcount.Code(indexfile.Codec{R: r}, &d, columns)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSaved holds that a saved Counter goes on as if it had not been saved, and a clone by itself.
func TestSaved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rowcount.New(columns), rowcount.New(columns)
		for range rapid.IntRange(0, 6).Draw(t, "chunks") {
			for range rapid.SampledFrom([]int{0, 1, 5, 1000, columnar.GroupRows}).Draw(t, "rows") {
				n := a.Rows()
				add(a, n)
				add(b, n)
			}
			if rapid.Bool().Draw(t, "end") {
				a.EndChunk()
				b.EndChunk()
			}
			b = save(t, b)
			add(b.Clone(), 7)
			if diff := cmp.Diff(a.Groups(), b.Groups()); diff != "" || a.Chunks() != b.Chunks() {
				t.Fatalf("%d and %d chunks: -not saved +saved\n%s", a.Chunks(), b.Chunks(), diff)
			}
		}
	})
}

// TestLongTexts saves a Counter of a group with more than 2 GiB of text.
func TestLongTexts(t *testing.T) {
	c := rowcount.New(columns)
	counts := make([]columnar.Counts, len(columns))
	counts[3].Bytes = 5 << 30
	c.Reset(300, counts)
	if diff := cmp.Diff(c.Groups(), save(t, c).Groups()); diff != "" {
		t.Errorf("-not saved +saved\n%s", diff)
	}
}

// TestCuts holds where groups begin.
func TestCuts(t *testing.T) {
	c := rowcount.New(columns[:1])
	for _, rows := range []int{0, 3, columnar.GroupRows - 4, 1, 2, columnar.MaxGroupRows + 10, columnar.MaxGroupRows, 1} {
		for range rows {
			c.Int64(1)
			c.EndRow()
		}
		c.EndChunk()
	}
	type group struct{ Rows, Chunk, Skip int }
	var got []group
	for _, g := range c.Groups() {
		got = append(got, group{g.Rows, g.Chunk, g.Skip})
	}
	want := []group{
		{columnar.GroupRows, 1, 0},
		{columnar.MaxGroupRows, 4, 0},
		{columnar.MaxGroupRows, 5, columnar.MaxGroupRows - 2},
		{13, 6, columnar.MaxGroupRows - 12},
	}
	if !slices.Equal(got, want) {
		t.Errorf("groups %v, want %v", got, want)
	}
}

// TestBounds counts the least and the greatest number, if there are any.
func TestBounds(t *testing.T) {
	c := rowcount.New(columns)
	for _, n := range []int{5, -3, 4} {
		add(c, n)
	}
	got := c.Groups()[0].Columns
	if got[0].Min != -3 || got[0].Max != 5 || got[1].Bounded || got[1].Nulls != 3 || got[3].Bytes != 1+1 {
		t.Errorf("%+v", got)
	}
	if lo, hi := math.Float64frombits(uint64(got[2].Min)), math.Float64frombits(uint64(got[2].Max)); lo != -0.75 || hi != 1.25 {
		t.Errorf("from %v to %v", lo, hi)
	}
}

// FuzzRead holds that what is read is a Counter or a failure.
func FuzzRead(f *testing.F) {
	c := rowcount.New(columns)
	for n := range 2 * columnar.GroupRows {
		if add(c, n); n%1000 == 0 {
			c.EndChunk()
		}
	}
	w := indexfile.NewWriter(formats.Seal{}, 0)
	rowcount.Code(indexfile.Codec{W: w}, &c, columns)
	f.Add(w.Bytes()[indexfile.HeadSize:])
	f.Fuzz(func(t *testing.T, b []byte) {
		r := indexfile.NewReader("test", b)
		var c *rowcount.Counter
		rowcount.Code(indexfile.Codec{R: r}, &c, columns)
		if r.Err() != nil && (c.Chunks() != 1 || len(c.Groups()) > 0) {
			t.Error("rows of what failed")
		}
		for _, g := range c.Groups() {
			if g.Rows <= 0 || g.Rows > columnar.MaxGroupRows || len(g.Columns) != len(columns) {
				t.Errorf("a group of %d rows", g.Rows)
			}
			for _, n := range g.Columns {
				if n.Nulls < 0 || n.Nulls > int64(g.Rows) || n.Bytes < 0 {
					t.Errorf("counts %+v of %d rows", n, g.Rows)
				}
			}
		}
	})
}

// TestJoin holds that chunks which are counted side by side give the groups of those counted in
// order.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 700, columnar.GroupRows - 1, columnar.GroupRows}), 1, 4).Draw(t, "sizes")
		if rapid.IntRange(0, 40).Draw(t, "huge") == 0 {
			sizes = append(sizes, columnar.MaxGroupRows+rapid.IntRange(-2, 2).Draw(t, "more"), 5)
		}
		want, got := rowcount.New(columns), rowcount.New(columns)
		var line rowcount.Line
		var parts []*rowcount.Counter
		n := 0
		for i, size := range sizes {
			if i > 0 {
				want.EndChunk()
			}
			part := line.Part(columns, size)
			for range size {
				add(want, n)
				add(part, n)
				n += 7
			}
			parts = append(parts, part)
		}
		for i, part := range parts {
			if i > 0 {
				got.EndChunk()
			}
			got.Join(part)
		}
		if diff := cmp.Diff(want.Groups(), got.Groups()); diff != "" || want.Chunks() != got.Chunks() {
			t.Fatalf("%d and %d chunks: -in order +side by side\n%s", want.Chunks(), got.Chunks(), diff)
		}
	})
}
