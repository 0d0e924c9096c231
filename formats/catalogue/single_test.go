package catalogue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/columnar"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// numbersColumns are those of the table numbers, the second of which is null where it is odd.
var numbersColumns = slices.Concat(columnar.Required(columnar.Int64, "tick"), columnar.Required(columnar.Int32, "half"))

// numbered is raced with a table of as many rows as the recording says, of which there is one file
// for all. trees counts the recordings that are opened.
func numbered(trees *atomic.Int32) formats.Format {
	f := raced()
	f.Single = []columnar.Table{{Name: "numbers", Columns: numbersColumns}}
	plain := f.Tree
	f.Tree = func(r formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
		trees.Add(1)
		dir, _ := plain(r, c)
		index, _ := nodes.Lookup(context.Background(), dir, "index.json")
		list := []columnar.Maker{{Name: "numbers", Make: func(ctx context.Context) (columnar.Table, error) {
			_, err := r.Index(ctx)
			n, _ := strconv.Atoi(string(r.Head.(headOf)[3:]))
			return numbersTable(n), err
		}}}
		tables := func() []columnar.Maker { return list }
		return nodes.List(index, nodes.Entry{Name: "tables", Dir: parquet.Dir(c, r.Input, f.Name, tables)}), tables
	}
	f.Summary = func(_ context.Context, r formats.Recording, _ formats.Index) (s formats.Summary, err error) {
		switch n := len(r.Head.(headOf)); {
		case n == oldest:
			s.Start = new(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC))
		case n == newest:
			s.Start = new(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))
		case n%2 == 0: // else it is not known
			s.Start = new(time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC))
		}
		return s, nil
	}
	return f
}

// Lengths of recordings that began in the years 1 and 9999.
const (
	oldest = 20
	newest = 22
)

// numbersTable returns a table of n rows.
func numbersTable(n int) columnar.Table {
	fill := func(b *columnar.Batch) {
		for i := range n {
			if b.Int64(int64(i)); i%2 == 0 || n%2 == 0 {
				b.Int32(int32(i / 2))
			} else {
				b.Null()
			}
		}
	}
	columns := slices.Clone(numbersColumns)
	columns[1].Nullable = n%2 == 1
	count := columnar.NewCounter(columns)
	fill(count)
	t := columnar.Table{Name: "numbers", Columns: columns, Fill: func(_ context.Context, b *columnar.Batch, _ int) error {
		fill(b)
		return nil
	}}
	if n > 0 {
		t.Groups = []columnar.Group{{Rows: n, Columns: []columnar.Counts{count.Columns[0].Counts, count.Columns[1].Counts}}}
	}
	return t
}

// newNumbered returns an archive of numbered, in which files have the numbers of rows as content.
func newNumbered(t *testing.T, files map[string]int) *measuredArchive {
	t.Helper()
	m := &measuredArchive{dir: t.TempDir(), store: t.TempDir()}
	m.formats = []formats.Format{numbered(&m.trees)}
	var members []entry
	for name, n := range files {
		if member, ok := strings.CutPrefix(name, "c.tar/"); ok {
			members = append(members, entry{member, fmt.Sprintf("REC%d", n)})
		} else {
			write(t, m.dir, name, fmt.Sprintf("REC%d", n))
		}
	}
	if members != nil {
		write(t, m.dir, "c.tar", string(formatstest.Tar(t, members...)))
	}
	return m
}

// index reads the index.json of recordings.
func (m *measuredArchive) index(t *testing.T, names ...string) {
	t.Helper()
	root := m.start(t)
	for _, name := range names {
		if _, err := read(t, root, name+"/index.json"); err != nil {
			t.Fatal(err)
		}
	}
}

const allNumbers = "tables/rec/numbers.parquet"

// wantNumbers reads the file over all recordings, which has the rows of some of them.
func wantNumbers(t *testing.T, root *root, unindexed int, groups []int, names ...string) {
	t.Helper()
	text, err := read(t, root, allNumbers)
	if err != nil {
		t.Fatal(err)
	}
	table := parquettest.Read(t, []byte(text))
	var got []string
	for i, path := range table.Columns[0].Values {
		if n := len(got); n == 0 || table.Columns[2].Values[i] == int64(0) {
			got = append(got, path.(string))
		} else if table.Columns[2].Values[i] != table.Columns[2].Values[i-1].(int64)+1 || path != got[n-1] {
			t.Fatalf("row %d: %v of %v", i, table.Columns[2].Values[i], path)
		}
	}
	if !slices.Equal(got, names) || !slices.Equal(table.Groups, groups) {
		t.Errorf("rows of %q in groups of %d, want %q in %d", got, table.Groups, names, groups)
	}
	if is := table.Metadata["recfs.unindexed"]; is != strconv.Itoa(unindexed) || table.Metadata["recfs.format"] != "rec" || table.Metadata["recfs.table"] != "numbers" {
		t.Errorf("metadata %v, want %d without an index", table.Metadata, unindexed)
	}
}

// TestSingle holds that the file over all recordings has the rows of those that have an index, is
// made without a look at any, and follows the archive, while who has the old one open reads that.
func TestSingle(t *testing.T) {
	m := newNumbered(t, map[string]int{"b.rec": 3, "a.rec": 2, "none.rec": 0, "c.tar/d.rec": 5, "e/x.rec": 1, "z.rec": 4})
	wantNumbers(t, m.start(t), 6, nil)
	m.index(t, "b.rec", "c.tar/d.rec", "e/x.rec", "none.rec")
	if _, err := read(t, m.start(t), Name); err != nil {
		t.Fatal(err)
	}
	root := m.start(t)
	if _, err := nodes.Lookup(t.Context(), root, "tables/rec/numbers/c.tar/d.rec.parquet"); err != nil { // the list of c.tar
		t.Fatal(err)
	}
	m.count()
	wantNumbers(t, root, 2, []int{9}, "b.rec", "c.tar/d.rec", "e/x.rec")
	m.wantNoneOpened(t)
	before, err := nodes.Lookup(t.Context(), root, allNumbers)
	if err != nil {
		t.Fatal(err)
	}
	old, err := before.File.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer nodes.CloseContent(old)
	text, _ := read(t, root, allNumbers)
	write(t, m.dir, "b.rec", "REC7")
	if err := os.Remove(filepath.Join(m.dir, "e/x.rec")); err != nil {
		t.Fatal(err)
	}
	m.index(t, "b.rec", "a.rec")
	now := m.start(t)
	wantNumbers(t, now, 1, []int{14}, "a.rec", "b.rec", "c.tar/d.rec")
	if _, err := read(t, root, Name); err != nil {
		t.Fatal(err)
	}
	after, err := nodes.Lookup(t.Context(), root, allNumbers)
	if err != nil || after.File == before.File || !after.Time.After(before.Time) {
		t.Errorf("the file is %v and was %v, %v", after, before, err)
	}
	b := make([]byte, old.Size())
	if n, err := old.ReadAt(t.Context(), b, 0); string(b[:n]) != text || err != nil {
		t.Errorf("who has it open reads %d bytes of %d, %v", n, len(text), err)
	}
	listing, err := nodes.Lookup(t.Context(), root, "tables/rec")
	if err != nil || !slices.Equal(namesOf(t, listing.Dir), []string{"numbers", "numbers.parquet"}) {
		t.Errorf("tables/rec lists %q, %v", namesOf(t, listing.Dir), err)
	}
	nodestest.Check(t, listing.Dir)
}

// TestSingleGroups holds that row groups are of whole recordings, but for one with more rows.
func TestSingleGroups(t *testing.T) {
	nodestest.Long(t)
	const most = columnar.GroupRows
	files := map[string]int{"a": 1, "b": most - 1, "c": 1, "d": 2*most + 5, "e": 1, "f": most, "g": 2}
	m := newNumbered(t, nil)
	var names []string
	for name, n := range files {
		write(t, m.dir, name+".rec", fmt.Sprintf("REC%d", n))
		names = append(names, name+".rec")
	}
	slices.Sort(names)
	m.index(t, names...)
	wantNumbers(t, m.start(t), 0, []int{most, 1, most, most, 5, 1, most, 2}, names...)
}

// TestSingleStarts has the starts of recordings from the first to the last year, and of one
// without, in the file over all and in that of each.
func TestSingleStarts(t *testing.T) {
	m := newNumbered(t, map[string]int{"none.rec": 12})
	write(t, m.dir, "old.rec", fmt.Sprintf("REC%0*d", oldest-3, 2))
	write(t, m.dir, "new.rec", fmt.Sprintf("REC%0*d", newest-3, 3))
	m.index(t, "none.rec", "old.rec", "new.rec")
	root := m.start(t)
	first, last := any(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)), any(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))
	for name, want := range map[string][]any{
		allNumbers:                           append(append(slices.Repeat([]any{last}, 3), slices.Repeat([]any{nil}, 12)...), first, first),
		"tables/rec/numbers/old.rec.parquet": {first, first},
		"tables/rec/numbers/new.rec.parquet": {last, last, last},
	} {
		text, err := read(t, root, name)
		if err != nil {
			t.Fatal(err)
		}
		if got := parquettest.Read(t, []byte(text)).Columns[1].Values; !slices.Equal(got, want) {
			t.Errorf("%s: starts %v, want %v", name, got, want)
		}
	}
}

// TestSingleWithoutRows holds that recordings of no rows make a file of no row groups, which counts
// them.
func TestSingleWithoutRows(t *testing.T) {
	nodestest.Long(t)
	n := nodestest.Times(520, 200) // more than two blocks of the list
	m := newNumbered(t, nil)
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("%05d.rec", i))
		write(t, m.dir, names[i], "REC0")
	}
	m.index(t, names...)
	root := m.start(t)
	wantNumbers(t, root, 0, nil)
	text, err := read(t, root, allNumbers)
	if err != nil {
		t.Fatal(err)
	}
	if is := parquettest.Read(t, []byte(text)).Metadata["recfs.recordings"]; is != strconv.Itoa(n) || len(text) > 4<<10 {
		t.Errorf("made of %s recordings, want %d; %d bytes", is, n, len(text))
	}
}

// TestSingleUpdates holds that blocks of the catalogue in which something changed have the rows of
// what did not.
func TestSingleUpdates(t *testing.T) {
	nodestest.Long(t)
	files, names := map[string]int{}, []string{}
	for i := range 520 { // more than two blocks of the list
		names = append(names, fmt.Sprintf("%03d.rec", i))
		files[names[i]] = 1 + i%5
	}
	m := newNumbered(t, files)
	m.index(t, names...)
	if _, err := read(t, m.start(t), Name); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range files {
		sum += n
	}
	write(t, m.dir, names[300], "REC8")
	if err := os.Remove(filepath.Join(m.dir, names[10])); err != nil {
		t.Fatal(err)
	}
	m.index(t, names[300])
	sum += 8 - files[names[300]] - files[names[10]]
	wantNumbers(t, m.start(t), 0, []int{sum}, slices.Delete(slices.Clone(names), 10, 11)...)
}

// TestSingleDamaged holds that rows which cannot be read any more are an error once, and made again
// of what is known of each recording.
func TestSingleDamaged(t *testing.T) {
	m := newNumbered(t, map[string]int{"a.rec": 2, "b.rec": 3})
	m.index(t, "a.rec", "b.rec")
	if _, err := read(t, m.start(t), Name); err != nil {
		t.Fatal(err)
	}
	disk := cache.NewDisk(m.store, 1<<20, nil)
	view, _ := archive.Of(first(m.start(t).Current(t.Context())))
	f, err := disk.Open(m.start(t).c.savedName(view))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	root := m.start(t)
	e, err := nodes.Lookup(t.Context(), root, allNumbers)
	if err != nil {
		t.Fatal(err)
	}
	size, err := e.File.Size(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd} // one has the records, the next one their rows
	at := bytes.Index(b, frame) + len(frame)
	at += bytes.Index(b[at:], frame)
	w, err := os.OpenFile(f.Name(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteAt([]byte{0xff, 0xff}, int64(at)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if b, err := nodes.ReadAll(t.Context(), e.File); err == nil || int64(len(b)) >= size {
		t.Fatalf("%d bytes of %d could be read", len(b), size)
	}
	root.last.Load().watch.ended = time.Time{} // the next look-up looks at all
	wantNumbers(t, root, 0, []int{5}, "a.rec", "b.rec")
}

// TestSavedPieces holds that pieces which nobody has made are not taken for some.
func TestSavedPieces(t *testing.T) {
	good := &ledger.Table{}
	table := numbersTable(5)
	if err := keepRows(t.Context(), &table, numbersColumns, good); err != nil {
		t.Fatal(err)
	}
	if list, ok := piecesOf(good, numbersColumns); !ok || len(list) != 1 || list[0].Rows != 5 {
		t.Fatalf("%+v, %t", list, ok)
	}
	for i := range good.Pieces {
		bad := *good
		bad.Pieces = slices.Clone(good.Pieces[:i])
		if _, ok := piecesOf(&bad, numbersColumns); ok {
			t.Errorf("%d of %d bytes are taken", i, len(good.Pieces))
		}
	}
	bad := *good
	if bad.Packed++; soundTables([]ledger.Table{bad}) {
		if _, ok := piecesOf(&bad, numbersColumns); ok {
			t.Error("other bytes of rows are taken")
		}
	}
}

// FuzzPieces reads pieces that anybody made.
func FuzzPieces(f *testing.F) {
	good := &ledger.Table{}
	table := numbersTable(5)
	if err := keepRows(context.Background(), &table, numbersColumns, good); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Pieces, good.Packed)
	f.Fuzz(func(t *testing.T, b []byte, packed int) {
		list, ok := piecesOf(&ledger.Table{Pieces: b, Packed: packed}, numbersColumns)
		if ok && len(list) > len(b) {
			t.Errorf("%d pieces of %d bytes", len(list), len(b))
		}
	})
}

// TestViewsSQL holds that a mount has names for all, with its own path, and nothing else has.
func TestViewsSQL(t *testing.T) {
	m := newNumbered(t, map[string]int{"a.rec": 2, "b.rec": 3})
	write(t, m.dir, "broken.rec", "junk")
	m.index(t, "a.rec")
	root := m.start(t)
	if _, err := read(t, root, "tables/views.sql"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a mount: %v", err)
	}
	root.c.Mounted("/mnt/it's [a]")
	text, err := read(t, root, "tables/views.sql")
	want := string(parquet.Views("/mnt/it's [a]/tables", 3, 2, []parquet.Kind{{Format: "rec", Table: "numbers", Single: true}}, ""))
	if text != want || err != nil {
		t.Errorf("%v\n%s, want\n%s", err, text, want)
	}
	e, err := nodes.Lookup(t.Context(), root, "tables")
	if names := namesOf(t, e.Dir); err != nil || !slices.Equal(names, []string{"rec", parquetName, "views.sql"}) {
		t.Errorf("%q, %v", names, err)
	}
}
