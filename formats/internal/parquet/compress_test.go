package parquet_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recfs/cache"
	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// compress returns the compressed file of a table, each group of which is made twice.
func compress(t testing.TB, table columnar.Table) []byte {
	t.Helper()
	z, err := parquet.NewEncoder(1)
	if err != nil {
		t.Fatal(err)
	}
	c := cache.New(64<<20, nil)
	t.Cleanup(c.Close)
	once, made := table.Fill, map[int]bool{}
	table.Fill = func(ctx context.Context, b *columnar.Batch, i int) error {
		if !made[i] { // it begins again, with more memory
			made[i] = true
			_, err := cache.Charge(ctx, 1<<30)
			return err
		}
		return once(ctx, b, i)
	}
	var out written
	size, err := z.WriteTable(t.Context(), c, &out, &table, parquet.Pair{Key: "recfs.table", Value: table.Name})
	if err != nil || size != int64(len(out)) {
		t.Fatalf("%d bytes of %d, %v", size, len(out), err)
	}
	return out
}

// written is what was written to a file.
type written []byte

// WriteAt implements io.WriterAt.
func (w *written) WriteAt(b []byte, off int64) (int, error) {
	*w = append((*w)[:off], b...)
	return len(b), nil
}

func TestCompressedTypes(t *testing.T) {
	for _, n := range []int{0, 1, 8, 9, 500} {
		rows := rowsOf(n)
		compare(t, compress(t, tableOf(rows)), rows)
	}
	if testing.Short() { // TestPages has a large group
		return
	}
	rows := rowsOf(columnar.GroupRows + 7)
	file := compress(t, tableOf(rows[:columnar.GroupRows], rows[columnar.GroupRows:]))
	got := compare(t, file, rows)
	if want := []int{columnar.GroupRows, 7}; !slices.Equal(got.Groups, want) {
		t.Errorf("row groups of %v rows, want %v", got.Groups, want)
	}
	if plain := layoutOf(t, tableOf(rows)).Size(); int64(len(file)) > plain/3 {
		t.Errorf("%d bytes of %d are left", len(file), plain)
	}
}

// textTable returns a table of n texts and as many numbers, which may be null.
func textTable(n int, text func(i int) string, number func(i int) (int64, bool)) columnar.Table {
	columns := slices.Concat(columnar.Required(columnar.Text, "text"), columnar.Optional(columnar.Int64, "number"))
	fill := func(_ context.Context, b *columnar.Batch, _ int) error {
		for i := range n {
			b.Text(text(i))
			if x, ok := number(i); ok {
				b.Int64(x)
			} else {
				b.Null()
			}
		}
		return nil
	}
	c := columnar.NewCounter(columns)
	_ = fill(nil, c, 0)
	return columnar.NewTable("text", columns, []columnar.Group{{Rows: n, Columns: []columnar.Counts{c.Columns[0].Counts, c.Columns[1].Counts}}}, fill)
}

// TestPages holds that what is large is divided into pages, of values and of indexes, nulls among
// them.
func TestPages(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	numbers := make([]int64, 300_000)
	for i := range numbers {
		numbers[i] = random.Int64()
	}
	text := func(i int) string { return fmt.Sprintf("%x", numbers[i]) }
	number := func(i int) (int64, bool) { return numbers[i], i%7 != 3 }
	got := parquettest.Read(t, compress(t, textTable(len(numbers), text, number)))
	for i := range numbers {
		want, ok := number(i)
		if got.Columns[0].Values[i] != text(i) || ok && got.Columns[1].Values[i] != want || !ok && got.Columns[1].Values[i] != nil {
			t.Fatalf("row %d: %v, %v", i, got.Columns[0].Values[i], got.Columns[1].Values[i])
		}
	}
	if got.Columns[0].Pages[0] < 5 || got.Columns[1].Pages[0] < 2 {
		t.Errorf("%v and %v pages", got.Columns[0].Pages, got.Columns[1].Pages)
	}
}

// TestDictionaries holds that values that come again are stored once, and others as they are.
func TestDictionaries(t *testing.T) {
	few := func(i int) (int64, bool) { return int64(i%200) - 100, i%5 > 0 }
	many := func(i int) (int64, bool) { return int64(i % 5000), true }
	far := func(i int) (int64, bool) { return int64(i%1024) << 40, true }
	for name, c := range map[string]struct {
		text   func(i int) string
		number func(i int) (int64, bool)
		want   [2]bool
	}{
		"few":    {func(i int) string { return strings.Repeat("word", i%300) }, few, [2]bool{true, true}},
		"many":   {func(i int) string { return fmt.Sprint(i / 8) }, many, [2]bool{true, false}},
		"unique": {func(i int) string { return fmt.Sprint(i) }, far, [2]bool{false, true}},
	} {
		const n = 20_000
		got := parquettest.Read(t, compress(t, textTable(n, c.text, c.number)))
		least, most := c.text(0), c.text(0)
		for i := range n {
			least, most = min(least, c.text(i)), max(most, c.text(i))
			if got.Columns[0].Values[i] != c.text(i) {
				t.Fatalf("%s, row %d: %v", name, i, got.Columns[0].Values[i])
			}
			if x, ok := c.number(i); ok && got.Columns[1].Values[i] != x {
				t.Fatalf("%s, row %d: %v, not %d", name, i, got.Columns[1].Values[i], x)
			}
		}
		if d := [2]bool{got.Columns[0].Dictionary[0], got.Columns[1].Dictionary[0]}; d != c.want {
			t.Errorf("%s: dictionaries %v, want %v", name, d, c.want)
		}
		want := [2]any{least, most}
		if len(most) > 64 {
			want = [2]any{}
		}
		if got.Columns[0].Bounds[0] != want {
			t.Errorf("%s: bounds %q, want %q", name, got.Columns[0].Bounds[0], want)
		}
	}
}

// numbers are n numbers that rise, or nearly.
type numbers struct {
	n  int
	at func(i int) int64
}

func steadily(i int) int64 { return int64(i) - 10_000 }
func unevenly(i int) int64 { return int64(i*i/1000 + i%2*64) }

// manyNumbers are numbers of each kind, of which there are few and many.
func manyNumbers() (list []numbers) {
	for _, n := range []int{1, 2, 33, 129, 130, 20_000} {
		list = append(list, numbers{n, steadily}, numbers{n, unevenly},
			numbers{n, func(i int) int64 { return int64(i / 7 * 1000) }},
			numbers{n, func(i int) int64 { return int64(i) * math.MaxInt32 / 20_000 }},
			numbers{n, func(i int) int64 { return int64(min(i, 1)*math.MaxUint32 - math.MaxInt32) }}) // the difference is too great
	}
	return list
}

// numberTable returns a table that has a row group for each kind of numbers. The last of its
// columns has a null.
func numberTable(list ...numbers) columnar.Table {
	columns := slices.Concat(columnar.Required(columnar.Int32, "int32"), columnar.Required(columnar.Int64, "int64"), columnar.Required(columnar.Time, "time"),
		columnar.Optional(columnar.Int32, "valid"), columnar.Optional(columnar.Int32, "null"))
	fill := func(_ context.Context, b *columnar.Batch, group int) error {
		for i := range list[group].n {
			x := list[group].at(i)
			b.Int32(int32(x))
			b.Int64(x << 31)
			b.Int64(x)
			b.Int32(int32(x))
			if i == list[group].n/2 {
				b.Null()
			} else {
				b.Int32(int32(x))
			}
		}
		return nil
	}
	var groups []columnar.Group
	for i := range list {
		c := columnar.NewCounter(columns)
		_ = fill(nil, c, i)
		g := columnar.Group{Rows: list[i].n, Chunk: i}
		for k := range c.Columns {
			g.Columns = append(g.Columns, c.Columns[k].Counts)
		}
		groups = append(groups, g)
	}
	return columnar.NewTable("numbers", columns, groups, fill)
}

// TestRising holds that numbers come back that are written as differences, and that they take less
// than others.
func TestRising(t *testing.T) {
	nodestest.Long(t)
	table := numberTable(manyNumbers()...)
	computed, got := parquettest.Read(t, write(t, table)), parquettest.Read(t, compress(t, table))
	if want, is := tableValues(computed), tableValues(got); !slices.EqualFunc(want, is, slices.Equal) {
		t.Error(cmp.Diff(want, is))
	}
	steady, uneven := len(compress(t, numberTable(numbers{20_000, steadily}))), len(compress(t, numberTable(numbers{20_000, unevenly})))
	if steady > uneven/4 {
		t.Errorf("%d bytes for numbers that rise, %d for others", steady, uneven)
	}
}

// TestUnevenRising holds that numbers are no differences where these would take more bits than all
// readers know.
func TestUnevenRising(t *testing.T) {
	list := []numbers{{40, func(i int) int64 { return int64(i) << 40 }}}
	for _, gap := range []int64{1<<28 - 1, 1 << 28} {
		list = append(list, numbers{40, func(i int) int64 { return int64(i) + int64(i/20)*gap }})
	}
	got := parquettest.Read(t, compress(t, numberTable(list...))).Columns[2].Differences
	if want := []bool{true, true, false}; !slices.Equal(got, want) {
		t.Errorf("as differences %v, want %v", got, want)
	}
}

// TestWordBounds holds that the bounds of few words are those that a row has.
func TestWordBounds(t *testing.T) {
	rows := rowsOf(1) // has "a" of "a", "bb" and "ccc"
	got := parquettest.Read(t, compress(t, tableOf(rows)))
	if b := got.Columns[7].Bounds[0]; b != [2]any{"a", "a"} {
		t.Errorf("bounds %v", b)
	}
}

// TestCompressedOtherVersion holds that rows which were not counted are of another version.
func TestCompressedOtherVersion(t *testing.T) {
	table := tableOf(rowsOf(20))
	table.Groups[0].Rows++
	z, err := parquet.NewEncoder(1)
	if err != nil {
		t.Fatal(err)
	}
	c := cache.New(64<<20, nil)
	defer c.Close()
	if _, err := z.WriteTable(t.Context(), c, new(written), &table); !errors.Is(err, nodes.ErrStale) {
		t.Error(err)
	}
}
