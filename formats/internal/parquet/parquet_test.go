package parquet_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/formats/internal/rowcount"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// allTypes has a column of each type that can be required, and of each that can hold nulls.
var allTypes = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Required(columnar.Bool, "bool"), columnar.Required(columnar.Int32, "int32"),
	columnar.Required(columnar.Float, "float"), columnar.Required(columnar.Double, "double"), columnar.Required(columnar.Time, "time"),
	columnar.Required(columnar.Text, "text"), columnar.OneOf("word", false, "a", "bb", "ccc"),
	columnar.Optional(columnar.Int64, "int64_null"), columnar.Optional(columnar.Bool, "bool_null"), columnar.Optional(columnar.Int32, "int32_null"),
	columnar.Optional(columnar.Float, "float_null"), columnar.Optional(columnar.Double, "double_null"), columnar.Optional(columnar.Time, "time_null"),
	columnar.Optional(columnar.Text, "text_null"), columnar.OneOf("word_null", true, "only"), columnar.Optional(columnar.Texts, "texts"),
)

// A row has a value for each of allTypes, as parquettest has it.
type row []any

// rowOf makes a row of any kind of values of a number.
func rowOf(n int) row {
	text := []string{"", "plain", "häärter", "a\nb", "€😀"}[n%5]
	r := row{
		int64(n), n%3 == 0, int32(-n), float32(n) / 4, float64(n) / 8, time.UnixMicro(int64(n) * 1e9).UTC(), text,
		[]string{"a", "bb", "ccc"}[n%3],
		int64(n) << 40, n%2 == 0, int32(n), float32(math.Inf(n%2*2 - 1)), -float64(n), time.UnixMicro(int64(-n)).UTC(), text, "only",
		[]any{text, "second"}[:n%3],
	}
	for i := 8; i < len(r); i++ {
		if (n>>(i-8))&1 == 1 {
			r[i] = nil
		}
	}
	return r
}

// add adds the row to a batch.
func (r row) add(b *columnar.Batch) {
	for i, v := range r {
		switch v := v.(type) {
		case nil:
			b.Null()
		case bool:
			b.Bool(v)
		case int32:
			b.Int32(v)
		case int64:
			b.Int64(v)
		case float32:
			b.Float(v)
		case float64:
			b.Double(v)
		case time.Time:
			b.Int64(v.UnixMicro())
		case []any:
			list := []string{}
			for _, s := range v {
				list = append(list, s.(string))
			}
			b.Texts(list)
		case string:
			if w := allTypes[i].Words; w != nil {
				b.Word(slices.Index(w, v))
				continue
			}
			b.Text(v)
		}
	}
}

// tableOf returns a table of chunks of rows, which are counted first and made when they are asked
// for.
func tableOf(chunks ...[]row) columnar.Table {
	c := rowcount.New(allTypes)
	for i, chunk := range chunks {
		if i > 0 {
			c.EndChunk()
		}
		for _, r := range chunk {
			r.add(c.Batch)
			c.EndRow()
		}
	}
	t := columnar.Table{Name: "all", Columns: allTypes, Groups: c.Groups()}
	t.Fill = func(_ context.Context, b *columnar.Batch, i int) error {
		for _, chunk := range chunks[t.Groups[i].Chunk:] {
			for _, r := range chunk {
				r.add(b)
			}
		}
		return nil
	}
	return t
}

// rowsOf returns n rows.
func rowsOf(n int) []row {
	rows := make([]row, n)
	for i := range rows {
		rows[i] = rowOf(i)
	}
	return rows
}

// contentOf returns the file of a layout, which makes a group for each read of it.
func contentOf(l *parquet.Layout) nodes.Content {
	return l.Content(func(ctx context.Context, i int) ([]byte, func(int), error) {
		b, err := l.Make(ctx, i, nil)
		return b, func(int) {}, err
	})
}

// layoutOf returns the layout of the file of a table.
func layoutOf(t *testing.T, table columnar.Table) *parquet.Layout {
	t.Helper()
	l, err := parquet.NewLayout(table, parquet.Pair{Key: "recfs.table", Value: table.Name})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// write returns the file of a table. It is read at once, as each read makes the groups it is of.
func write(t *testing.T, table columnar.Table) []byte {
	t.Helper()
	l := layoutOf(t, table)
	c, b := contentOf(l), make([]byte, l.Size()+1)
	n, err := c.ReadAt(t.Context(), b, 0)
	if !errors.Is(err, io.EOF) || int64(n) != l.Size() || c.Size() != l.Size() {
		t.Fatalf("%d bytes of %d, %v", n, l.Size(), err)
	}
	return b[:n]
}

// compare reads a file and compares its rows.
func compare(t *testing.T, file []byte, rows []row) *parquettest.Table {
	t.Helper()
	got := parquettest.Read(t, file)
	for i, c := range got.Columns {
		var want []any
		for _, r := range rows {
			want = append(want, r[i])
		}
		if !slices.EqualFunc(want, c.Values, sameValue) {
			t.Errorf("%s: -want +got\n%s", c.Name, cmp.Diff(want, c.Values))
		}
	}
	return got
}

// sameValue compares values of a column faster than reflect.DeepEqual does.
func sameValue(a, b any) bool {
	x, list := a.([]any)
	y, other := b.([]any)
	return list == other && (list && (x == nil) == (y == nil) && slices.Equal(x, y) || !list && a == b)
}

func TestTypes(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 500} {
		rows := rowsOf(n)
		got := compare(t, write(t, tableOf(rows)), rows)
		if want := min(n, 1); len(got.Groups) != want {
			t.Errorf("%d rows: row groups %v", n, got.Groups)
		}
		if got.Metadata["recfs.table"] != "all" {
			t.Errorf("metadata %v", got.Metadata)
		}
	}
}

// TestGroups holds that a group ends with the chunk in which it has rows enough.
func TestGroups(t *testing.T) {
	nodestest.Long(t)
	long := rowsOf(columnar.GroupRows)
	file := write(t, tableOf(nil, long[:10], long, nil, long[:3], long[:4]))
	got := compare(t, file, slices.Concat(long[:10], long, long[:3], long[:4]))
	if want := []int{10 + len(long), 7}; !slices.Equal(got.Groups, want) {
		t.Errorf("row groups of %v rows, want %v", got.Groups, want)
	}
	if want := [][2]any{{int64(0), int64(len(long) - 1)}, {int64(0), int64(3)}}; cmp.Diff(want, got.Columns[0].Bounds) != "" {
		t.Errorf("bounds of tick: %v", got.Columns[0].Bounds)
	}
}

// TestInvalidText holds that each byte that is not UTF-8 becomes U+FFFD.
func TestInvalidText(t *testing.T) {
	rows := rowsOf(1)
	rows[0][6], rows[0][16] = "a\xff\xfeb\xed\xa0\x80", []any{"\xc3"}
	file := write(t, tableOf(rows))
	rows[0][6], rows[0][16] = "a\ufffd\ufffdb\ufffd\ufffd\ufffd", []any{"\ufffd"}
	compare(t, file, rows)
}

// TestNaN holds that NaN is no bound, and neither zero is without the other.
func TestNaN(t *testing.T) {
	rows := rowsOf(2)
	rows[0][3], rows[1][3] = float32(math.NaN()), float32(math.NaN())
	rows[0][4], rows[1][4] = math.NaN(), math.Copysign(0, -1)
	columns := parquettest.Read(t, write(t, tableOf(rows))).Columns
	if b := columns[3].Bounds[0]; b != [2]any{} {
		t.Errorf("bounds of NaN: %v", b)
	}
	lo, hi := columns[4].Bounds[0][0].(float64), columns[4].Bounds[0][1].(float64)
	if lo != 0 || hi != 0 || !math.Signbit(lo) || math.Signbit(hi) {
		t.Errorf("bounds of zero: %v, %v", lo, hi)
	}
}

// TestOtherVersion holds that rows which are not those that were counted are of another version.
func TestOtherVersion(t *testing.T) {
	counted := rowsOf(20)
	for name, change := range map[string]func(rows []row) []row{
		"fewer":      func(rows []row) []row { return rows[1:] },
		"longer":     func(rows []row) []row { rows[3][6] = "longer than that"; return rows },
		"not a null": func(rows []row) []row { rows[1][8] = int64(1); return rows },
		"more items": func(rows []row) []row { rows[0][16] = []any{"", "", ""}; return rows },
	} {
		table, made := tableOf(counted), tableOf(change(rowsOf(20)))
		table.Fill = func(_ context.Context, b *columnar.Batch, _ int) error {
			for _, r := range change(rowsOf(20)) {
				r.add(b)
			}
			return nil
		}
		l, err := parquet.NewLayout(table)
		if err != nil || len(made.Groups) != 1 {
			t.Fatal(err)
		}
		if _, err := l.Make(t.Context(), 0, nil); !errors.Is(err, nodes.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// hugeTable returns a table of 200 million rows as positions has them, none of which can be made.
func hugeTable() columnar.Table {
	table := columnar.Table{Columns: slices.Concat(
		columnar.Required(columnar.Int64, "tick"), columnar.Required(columnar.Int32, "cid", "stay"), columnar.Optional(columnar.Int32, "x", "y"),
	)}
	const groups = 200_000_000 / (70 << 10)
	for i := range groups {
		bounds := columnar.Counts{Bounded: true, Min: int64(i) * 1000, Max: int64(i)*1000 + 999}
		table.Groups = append(table.Groups, columnar.Group{Rows: 70 << 10, Columns: []columnar.Counts{bounds, bounds, bounds, bounds, bounds}})
	}
	return table
}

// footerOf returns how many bytes the footer of a file has.
func footerOf(tb testing.TB, content nodes.Content) int {
	tb.Helper()
	tail := make([]byte, 8)
	if _, err := content.ReadAt(tb.Context(), tail, content.Size()-8); err != nil || !bytes.HasSuffix(tail, []byte("PAR1")) {
		tb.Errorf("it ends with %q, %v", tail, err)
	}
	return int(binary.LittleEndian.Uint32(tail))
}

// TestHuge lays out 200 million rows, none of which is made.
func TestHuge(t *testing.T) {
	l, err := parquet.NewLayout(hugeTable())
	if err != nil {
		t.Fatal(err)
	}
	if footer := footerOf(t, contentOf(l)); footer > 1<<20 {
		t.Errorf("a footer of %d bytes", footer)
	}
	if l.Cost() > 16<<20 {
		t.Errorf("the layout takes %d bytes", l.Cost())
	}
}

// BenchmarkLayout lays out 200 million rows.
func BenchmarkLayout(b *testing.B) {
	table := hugeTable()
	var l *parquet.Layout
	for b.Loop() {
		var err error
		if l, err = parquet.NewLayout(table); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(l.Cost()), "B/layout")
	b.ReportMetric(float64(footerOf(b, contentOf(l))), "B/footer")
}

// TestTooLarge holds that there is no page whose size its header cannot tell.
func TestTooLarge(t *testing.T) {
	table := columnar.Table{
		Columns: columnar.Required(columnar.Text, "text"),
		Groups:  []columnar.Group{{Rows: 1, Columns: []columnar.Counts{{Bytes: math.MaxInt32}}}},
	}
	if _, err := parquet.NewLayout(table); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

// FuzzTable holds that a table of any rows has the size that was computed, and reads back.
func FuzzTable(f *testing.F) {
	f.Add([]byte("some rows\x00 and more\xff of them"), uint8(3))
	f.Fuzz(func(t *testing.T, values []byte, each uint8) {
		var rows []row
		var chunks [][]row
		for i, v := range values {
			r := rowOf(int(v) | i%4<<8)
			r[6], r[14] = string([]rune(string(values[i:min(len(values), i+int(v%32))]))), nil
			rows = append(rows, r)
		}
		for chunk := range slices.Chunk(rows, int(each)+1) {
			chunks = append(chunks, chunk)
		}
		compare(t, write(t, tableOf(chunks...)), rows)
	})
}
