package columnar_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"recfs/formats/columnar"
)

var columns = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Optional(columnar.Int32, "x"), columnar.Optional(columnar.Text, "name"),
	columnar.Optional(columnar.Double, "y"), columnar.Required(columnar.Bool, "on"),
)

// A row is one of these columns; nil is null.
type row struct {
	tick int64
	x    *int32
	name *string
	y    *float64
	on   bool
}

func (r *row) add(b *columnar.Batch) {
	b.Int64(r.tick)
	if r.x != nil {
		b.FitInt32(int64(*r.x))
	} else {
		b.FitInt32(1 << 40) // does not fit
	}
	if r.name != nil {
		b.Text(*r.name)
	} else {
		b.Null()
	}
	if r.y != nil {
		b.Double(*r.y)
	} else {
		b.Null()
	}
	b.Bool(r.on)
}

// A batch of a group has the rows of the group, whatever stands before and after them, and counts
// what is in them as a counter does.
func TestGroupsOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) row {
			return row{
				rapid.Int64().Draw(t, "tick"), rapid.Ptr(rapid.Int32(), true).Draw(t, "x"), rapid.Ptr(rapid.StringN(0, 5, 20), true).Draw(t, "name"),
				rapid.Ptr(rapid.Float64(), true).Draw(t, "y"), rapid.Bool().Draw(t, "on"),
			}
		}), 1, 20).Draw(t, "rows")
		skip := rapid.IntRange(0, len(rows)-1).Draw(t, "skip")
		n := rapid.IntRange(1, len(rows)-skip).Draw(t, "n")
		part := rows[skip:][:n]

		counter := columnar.NewCounter(columns)
		for i := range part {
			part[i].add(counter)
		}
		counts := make([]columnar.Counts, len(columns))
		for i := range counts {
			counts[i] = counter.Columns[i].Counts
		}
		b := columnar.NewBatch(columns, columnar.Group{Rows: n, Skip: skip, Columns: counts})
		for i := range rows {
			if full := i >= skip+n; b.Full() != full {
				t.Fatalf("full before row %d of %d behind %d: %t", i, n, skip, b.Full())
			}
			rows[i].add(b)
		}
		if b.Rows() != n || counter.Rows() != n {
			t.Fatalf("%d rows, %d counted, want %d", b.Rows(), counter.Rows(), n)
		}
		got := [3]int{} // places in the values of x, name and y
		for i := range part {
			want := part[i]
			if b.Columns[0].Int64s[i] != want.tick || b.Columns[4].Bools[i] != want.on {
				t.Fatalf("row %d: %d %t", i, b.Columns[0].Int64s[i], b.Columns[4].Bools[i])
			}
			for k, valid := range []bool{want.x != nil, want.name != nil, want.y != nil} {
				if b.Columns[k+1].Valid[i] != valid {
					t.Fatalf("row %d: column %d is valid: %t", i, k+1, !valid)
				}
				if !valid {
					continue
				}
				at := got[k]
				got[k]++
				start := 0
				if k == 1 && at > 0 {
					start = b.Columns[2].Ends[at-1]
				}
				switch {
				case k == 0 && b.Columns[1].Int32s[at] != *want.x,
					k == 1 && string(b.Columns[2].Text[start:b.Columns[2].Ends[at]]) != *want.name,
					k == 2 && b.Columns[3].Doubles[at] != *want.y:
					t.Fatalf("row %d: another value in column %d", i, k+1)
				}
			}
		}
		for k, valid := range got {
			if nulls := counter.Columns[k+1].Nulls; nulls != int64(n-valid) || b.Columns[k+1].Nulls != nulls {
				t.Errorf("column %d has %d nulls, %d counted, want %d", k+1, b.Columns[k+1].Nulls, nulls, n-valid)
			}
		}
		if text := counter.Columns[2].Counts.Bytes; text != int64(len(b.Columns[2].Text)) {
			t.Errorf("%d bytes of text counted, there are %d", text, len(b.Columns[2].Text))
		}
	})
}

// Rows that are kept elsewhere are appended as they are added one by one.
func TestAppend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 5000
		all, skip := rapid.IntRange(most/2, most).Draw(t, "all"), rapid.IntRange(0, 9).Draw(t, "skip")
		g := columnar.Group{Rows: rapid.IntRange(all/2, all).Draw(t, "rows"), Skip: skip, Columns: make([]columnar.Counts, len(columns))}
		together := rapid.SampledFrom([]int{1, 100, 4096, most}).Draw(t, "together")
		room := rapid.IntRange(0, 1).Draw(t, "room")
		add := func(b *columnar.Batch, i int) {
			x, name, y := int32(i), fmt.Sprint(i%100), float64(i)/2
			r := row{tick: int64(i), on: i%3 == 0}
			if i%5 > 0 {
				r.x = &x
			}
			if i%7 > 0 {
				r.name = &name
			}
			if i%11 > 0 {
				r.y = &y
			}
			r.add(b)
		}
		var given [2][]columnar.Vector
		for k := range given {
			b := columnar.NewBatch(columns, g)
			for i := 0; i < skip+all; i += together {
				kept := columnar.NewRows(columns, room)
				for j := i; j < min(i+together, skip+all); j++ {
					if add(kept, j); k == 0 {
						add(b, j)
					}
				}
				if k == 1 {
					b.Append(kept)
				}
				if n := kept.Size(); n < int64(9*kept.Rows()) {
					t.Fatalf("%d rows have %d bytes", kept.Rows(), n)
				}
			}
			given[k] = b.Columns
			if !b.Full() {
				t.Fatalf("%d rows, want %d", b.Rows(), g.Rows)
			}
		}
		for i, v := range given[1] {
			if w := given[0][i]; v.Nulls != w.Nulls || !slices.Equal(v.Valid, w.Valid) || !slices.Equal(v.Bools, w.Bools) ||
				!slices.Equal(v.Int32s, w.Int32s) || !slices.Equal(v.Int64s, w.Int64s) || !slices.Equal(v.Doubles, w.Doubles) ||
				!bytes.Equal(v.Text, w.Text) || !slices.Equal(v.Ends, w.Ends) {
				t.Fatalf("appended: %.2000s\nwant: %.2000s", fmt.Sprint(v), fmt.Sprint(w))
			}
		}
	})
}

// Text of a table is UTF-8: each byte that is not becomes U+FFFD, which is counted as the three
// bytes it takes.
func TestTextOfTables(t *testing.T) {
	text := columnar.Required(columnar.Text, "text")
	for in, want := range map[string]string{"": "", "é": "é", "a\xffb": "a\ufffdb", "\xe2\x82": "\ufffd\ufffd", "\xed\xa0\x80": "\ufffd\ufffd\ufffd"} {
		counter := columnar.NewCounter(text)
		counter.Bytes([]byte(in))
		n := counter.Columns[0].Counts.Bytes
		b := columnar.NewBatch(text, columnar.Group{Rows: 1, Columns: []columnar.Counts{counter.Columns[0].Counts}})
		b.Text(in)
		if got := string(b.Columns[0].Text); got != want || n != int64(len(want)) || fmt.Sprint(b.Columns[0].Ends) != fmt.Sprintf("[%d]", len(want)) {
			t.Errorf("%q: %q, counted as %d bytes", in, got, n)
		}
	}
}

// Numbers that are put behind those of a Batch lie where they were placed, with those that are
// added one by one.
func TestPlaced(t *testing.T) {
	numbers := slices.Concat(columnar.Required(columnar.Int64, "tick"), columnar.Optional(columnar.Int32, "n"))
	rapid.Check(t, func(t *rapid.T) {
		const most = 200_000 // more than there is room for flags at first
		rows, skip := rapid.IntRange(1, most).Draw(t, "rows"), rapid.IntRange(0, 9).Draw(t, "skip")
		ticks := make([]int64, 0, rows)
		b := columnar.NewPlacedBatch(numbers, columnar.Group{Rows: rows, Skip: skip, Columns: make([]columnar.Counts, 2)}, func(v *columnar.Vector, i int) {
			if i == 0 {
				v.Int64s, v.Placed = ticks, true
			}
		})
		put, limit := 0, rapid.IntRange(1, most).Draw(t, "together")
		for put < skip+rows+3 { // some follow that are not of the group
			list := columnar.Spare(b.Columns[0].Int64s, min(b.Room(), limit))
			list = list[:len(columnar.Spare(b.Columns[1].Int32s, len(list)))]
			for i := range list {
				list[i] = int64(put)
				put++
			}
			b.Appended(len(list))
			b.Int64(int64(put))
			b.Null()
			put++
		}
		if ticks = ticks[:rows]; b.Rows() != rows || len(b.Columns[0].Int64s) != rows || len(b.Columns[1].Valid) != rows {
			t.Fatalf("%d rows, %d ticks and %d flags, want %d", b.Rows(), len(b.Columns[0].Int64s), len(b.Columns[1].Valid), rows)
		}
		for i, tick := range ticks {
			if tick != int64(skip+i) {
				t.Fatalf("row %d is that of %d", i, tick)
			}
		}
	})
}

// Rows that are counted in short, without nulls one by one, or with the length of a text alone,
// are counted as they are value by value, also behind a Reset.
func TestCountedInShort(t *testing.T) {
	columns := slices.Concat(
		columnar.Required(columnar.Int32, "a", "b"), columnar.Optional(columnar.Text, "s", "t"), columnar.Required(columnar.Int32, "c", "d"),
	)
	rapid.Check(t, func(t *rapid.T) {
		short, long := columnar.NewCounter(columns), columnar.NewCounter(columns)
		var last [4]int32
		for range rapid.IntRange(1, 30).Draw(t, "rows") {
			for i := range last {
				last[i] = rapid.Int32Range(-2, 2).Draw(t, "number")
			}
			text, other := rapid.SampledFrom([]string{"", "x", "long"}).Draw(t, "text"), rapid.SampledFrom([]string{"", "y"}).Draw(t, "other")
			short.Int32s(last[0], last[1])
			switch {
			case text == "" && other == "":
				short.Nulls(2)
			case text == "":
				short.Nulls(1)
				short.Text(other)
			case other == "":
				short.LaterText(len(text))
				short.Null()
			default:
				short.Text(text)
				short.LaterText(len(other))
			}
			short.Int32s(last[2], last[3])
			long.Int32(last[0])
			long.Int32(last[1])
			for _, s := range []string{text, other} {
				if s == "" {
					long.Null()
				} else {
					long.Text(s)
				}
			}
			long.Int32(last[2])
			long.Int32(last[3])
			for i := range columns {
				if short.Columns[i].Counts != long.Columns[i].Counts {
					t.Fatalf("column %d of %d rows: %+v, want %+v", i, short.Rows(), short.Columns[i].Counts, long.Columns[i].Counts)
				}
			}
			if short.Rows() != long.Rows() {
				t.Fatalf("%d rows, want %d", short.Rows(), long.Rows())
			}
			if rapid.IntRange(0, 5).Draw(t, "reset") == 0 {
				short.Reset(0, nil)
				long.Reset(0, nil)
			}
		}
	})
}

// The bounds of numbers that may be null are those of the numbers, whichever come behind a null.
func TestNumbersBehindNulls(t *testing.T) {
	columns := columnar.Optional(columnar.Int32, "a", "b")
	rapid.Check(t, func(t *rapid.T) {
		short, long := columnar.NewCounter(columns), columnar.NewCounter(columns)
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			x := rapid.Int32Range(-2, 2).Draw(t, "number")
			if x == -2 {
				short.Null()
				short.Null()
				long.Null()
				long.Null()
			} else {
				short.Int32s(x, -x)
				long.Int32(x)
				long.Int32(-x)
			}
		}
		for i := range columns {
			if short.Columns[i].Counts != long.Columns[i].Counts {
				t.Fatalf("column %d: %+v, want %+v", i, short.Columns[i].Counts, long.Columns[i].Counts)
			}
		}
	})
}

// TestSizeOfFewRows holds what few rows are said to have to what is allocated for them.
func TestSizeOfFewRows(t *testing.T) {
	few := columnar.Required(columnar.Int64, "a", "b", "c", "d", "e", "f", "g", "h")
	const times = 1000
	said, kept := int64(0), make([]*columnar.Batch, times)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range kept {
		kept[i] = columnar.NewRows(few, 1)
		said += kept[i].Size()
	}
	runtime.ReadMemStats(&after)
	if took := int64(after.TotalAlloc - before.TotalAlloc); said < took/2 || said > took {
		t.Errorf("they are said to have %d bytes and took %d", said, took)
	}
}

// TestJSON holds texts that are known to be UTF-8 to others: those that are passed over, kept and
// counted.
func TestJSON(t *testing.T) {
	column := columnar.Required(columnar.Text, "text")
	g := columnar.Group{Rows: 3, Skip: 1, Columns: make([]columnar.Counts, 1)}
	a, b, counted := columnar.NewBatch(column, g), columnar.NewBatch(column, g), columnar.NewCounter(column)
	for _, text := range []string{`{}`, `{"a":1}`, `"ü"`, ``, `null`} {
		a.JSON([]byte(text))
		b.Bytes([]byte(text))
		counted.JSON([]byte(text))
	}
	if got, want := a.Columns[0], b.Columns[0]; string(got.Text) != string(want.Text) || !slices.Equal(got.Ends, want.Ends) || len(got.Ends) != g.Rows {
		t.Errorf("%q %v, want %q %v", got.Text, got.Ends, want.Text, want.Ends)
	}
	if n := counted.Columns[0].Counts.Bytes; counted.Rows() != 5 || n != 2+7+4+0+4 {
		t.Errorf("%d rows, %d bytes", counted.Rows(), n)
	}
}
