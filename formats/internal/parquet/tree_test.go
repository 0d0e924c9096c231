package parquet_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// dirOf returns the directory of one table, called all.
func dirOf(t *testing.T, load func() (columnar.Table, error)) nodes.Dir {
	t.Helper()
	return dirWithin(t, 64<<20, load)
}

// dirWithin is dirOf with a budget.
func dirWithin(t *testing.T, budget int64, load func() (columnar.Table, error)) nodes.Dir {
	t.Helper()
	c := cache.New(budget, nil)
	t.Cleanup(c.Close)
	in := formatstest.BytesInput("bad\xff.rec", nil, time.Time{})
	tables := []columnar.Maker{{Name: "all", Make: func(context.Context) (columnar.Table, error) { return load() }}}
	return parquet.Dir(c, in, "test", func() []columnar.Maker { return tables })
}

// borrow borrows all of a file.
func borrow(t *testing.T, f nodes.File, size int) {
	t.Helper()
	c, err := f.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	loan, err := c.(nodes.Lender).Lend(t.Context(), size, 0)
	if err != nil {
		t.Fatal(err)
	}
	loan.Return()
}

// TestDir lists tables without making them, and makes each group once for all who read it.
func TestDir(t *testing.T) {
	nodestest.Long(t)
	rows := rowsOf(columnar.GroupRows + 5)
	table := tableOf(rows[:columnar.GroupRows], rows[columnar.GroupRows:])
	want := write(t, table)
	var loads, made atomic.Int64
	counted := table
	counted.Fill = func(ctx context.Context, b *columnar.Batch, i int) error {
		made.Add(1)
		return table.Fill(ctx, b, i)
	}
	dir := dirOf(t, func() (columnar.Table, error) { loads.Add(1); return counted, nil })
	e, err := nodes.Lookup(t.Context(), dir, "all.parquet")
	if err != nil || loads.Load() != 0 {
		t.Fatalf("%d tables were made to look one up, %v", loads.Load(), err)
	}
	if _, err := e.File.Size(t.Context()); err != nil || made.Load() != 0 {
		t.Errorf("%d groups were made to know the size, %v", made.Load(), err)
	}
	var wg sync.WaitGroup
	files := make([][]byte, nodestest.Times(8, 2))
	for i := range files {
		wg.Go(func() {
			b, err := nodes.ReadAll(t.Context(), e.File)
			if err != nil {
				t.Error(err)
			}
			files[i] = b
		})
	}
	wg.Wait()
	if loads.Load() != 1 || made.Load() != 2 {
		t.Errorf("%d tables and %d groups were made, not one and two", loads.Load(), made.Load())
	}
	got := parquettest.Read(t, files[0])
	if got.Metadata["recfs.format"] != "test" || got.Metadata["recfs.table"] != "all" || got.Metadata["recfs.source"] != "bad\ufffd.rec" {
		t.Errorf("metadata %q", got.Metadata)
	}
	for _, b := range files {
		if !bytes.Equal(b, files[0]) {
			t.Error("two readers read two files")
		}
	}
	for i := range 2 {
		borrow(t, e.File, len(files[0]))
		if n := made.Load(); n != int64(2+2*i) {
			t.Errorf("%d groups were made when all were lent %d times", n, i+1)
		}
	}
	if !bytes.HasPrefix(files[0], want[:len(want)/2]) {
		t.Error("it is another table")
	}
	nodestest.Check(t, dir)
}

// TestLent holds that the groups are right for who borrows them and who copies them at the same
// time, though each gives its memory to the next one once all of it was lent.
func TestLent(t *testing.T) {
	nodestest.Long(t)
	rows := rowsOf(2 * columnar.GroupRows)
	table := tableOf(slices.Collect(slices.Chunk(rows, columnar.GroupRows))...)
	e, err := nodes.Lookup(t.Context(), dirOf(t, func() (columnar.Table, error) { return table, nil }), "all.parquet")
	if err != nil {
		t.Fatal(err)
	}
	want, err := nodes.ReadAll(t.Context(), e.File)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			c, err := e.File.Open(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			for off := 0; off < len(want); {
				n := min(100_000, len(want)-off)
				loan, err := c.(nodes.Lender).Lend(t.Context(), n, int64(off))
				if err != nil {
					t.Error(err)
					return
				}
				copied := make([]byte, n)
				if _, err := c.ReadAt(t.Context(), copied, int64(off)); err != nil {
					t.Error(err)
				}
				if lent := bytes.Join(loan.Parts, nil); !bytes.Equal(lent, want[off:off+n]) || !bytes.Equal(copied, lent) {
					t.Errorf("other bytes from %d on", off)
				}
				loan.Return()
				off += n
			}
		})
	}
	wg.Wait()
}

// TestLentInLittleMemory holds that a group is made again after all of it was lent where the cache
// keeps it besides what it has room for.
func TestLentInLittleMemory(t *testing.T) {
	table := tableOf(rowsOf(columnar.GroupRows / 4))
	e, err := nodes.Lookup(t.Context(), dirWithin(t, 8<<20, func() (columnar.Table, error) { return table, nil }), "all.parquet")
	if err != nil {
		t.Fatal(err)
	}
	want, err := nodes.ReadAll(t.Context(), e.File)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		borrow(t, e.File, len(want))
	}
	if got, err := nodes.ReadAll(t.Context(), e.File); err != nil || !bytes.Equal(got, want) {
		t.Errorf("other bytes, %v", err)
	}
}

// TestUsedMemory holds that nothing of what was in memory before is in a group that is made there.
func TestUsedMemory(t *testing.T) {
	for _, rows := range []int{1, 7, 4097, 9000} {
		l, err := parquet.NewLayout(tableOf(rowsOf(rows)))
		if err != nil {
			t.Fatal(err)
		}
		want, err := l.Make(t.Context(), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		used := bytes.Repeat([]byte{0xff}, len(want)+100)
		got, err := l.Make(t.Context(), 0, used[:rows])
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d rows: other bytes in memory that was used, %v", rows, err)
		}
		if &got[0] != &used[0] {
			t.Errorf("%d rows: the memory was not used", rows)
		}
	}
}

// TestMemoryFits holds that a small group does not take the memory of a large one.
func TestMemoryFits(t *testing.T) {
	c := cache.New(64<<20, nil)
	defer c.Close()
	maker := func(name string, rows int) columnar.Maker {
		table := tableOf(rowsOf(rows))
		return columnar.Maker{Name: name, Make: func(context.Context) (columnar.Table, error) { return table, nil }}
	}
	tables := []columnar.Maker{maker("large", columnar.GroupRows/2), maker("small", 10)}
	dir := parquet.Dir(c, formatstest.BytesInput("x", nil, time.Time{}), "test", func() []columnar.Maker { return tables })
	large, err := nodes.Lookup(t.Context(), dir, "large.parquet")
	if err != nil {
		t.Fatal(err)
	}
	size, err := large.File.Size(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	borrow(t, large.File, int(size))
	before := c.Stats().Bytes
	nodestest.Read(t, dir, "small.parquet")
	if kept := c.Stats().Bytes - before; kept > 64<<10 {
		t.Errorf("%d bytes are kept of a small table", kept)
	}
}

// TestFooter holds that the footer, and a row group, can be read in whole blocks without making
// another group.
func TestFooter(t *testing.T) {
	rows := rowsOf(columnar.GroupRows + 300)
	table := tableOf(rows[:columnar.GroupRows], rows[columnar.GroupRows:])
	l, err := parquet.NewLayout(table)
	if err != nil {
		t.Fatal(err)
	}
	var made []int
	content := l.Content(func(ctx context.Context, i int) ([]byte, func(int), error) {
		made = append(made, i)
		b, err := l.Make(ctx, i, nil)
		return b, func(int) {}, err
	})
	const block = 4096
	read := func(from, to int64) {
		t.Helper()
		from, made = from/block*block, nil
		to = min((to+block-1)/block*block, content.Size())
		if _, err := content.ReadAt(t.Context(), make([]byte, to-from), from); err != nil {
			t.Fatal(err)
		}
	}
	read(content.Size()-8-int64(footerOf(t, content)), content.Size())
	if len(made) > 0 {
		t.Errorf("the groups %d were made for the footer", made)
	}
	second := int64(4)
	if first, err := l.Make(t.Context(), 0, nil); err == nil {
		second += int64(len(first))
	}
	read(second+block, second+2*block)
	if !slices.Equal(made, []int{1}) {
		t.Errorf("the groups %d were made for the second", made)
	}
	read(second-block, second)
	if !slices.Equal(made, []int{0}) {
		t.Errorf("the groups %d were made for the end of the first", made)
	}
}

// TestDirFails passes on why there is no index, or no rows.
func TestDirFails(t *testing.T) {
	failure := errors.New("no index")
	e, err := nodes.Lookup(t.Context(), dirOf(t, func() (columnar.Table, error) { return columnar.Table{}, failure }), "all.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.File.Size(t.Context()); !errors.Is(err, failure) {
		t.Error(err)
	}
	table := tableOf(rowsOf(3))
	table.Fill = func(context.Context, *columnar.Batch, int) error { return failure }
	e, err = nodes.Lookup(t.Context(), dirOf(t, func() (columnar.Table, error) { return table, nil }), "all.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nodes.ReadAll(t.Context(), e.File); !errors.Is(err, failure) {
		t.Error(err)
	}
}

// TestGrown holds that the groups of a recording that has grown stay, all but the last.
func TestGrown(t *testing.T) {
	nodestest.Long(t)
	rows := rowsOf(columnar.GroupRows + 200)
	first, rest := rows[:columnar.GroupRows], rows[columnar.GroupRows:]
	before, after := write(t, tableOf(first, rest[:10])), write(t, tableOf(first, rest[:100], rest[100:]))
	l, err := parquet.NewLayout(tableOf(first))
	if err != nil {
		t.Fatal(err)
	}
	group, err := l.Make(t.Context(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	kept := append([]byte("PAR1"), group...)
	if !bytes.HasPrefix(before, kept) || !bytes.HasPrefix(after, kept) {
		t.Error("the first group is another one")
	}
}
