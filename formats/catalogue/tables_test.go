package catalogue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/testing/parquettest"
	"recfs/formats/source"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// textTable makes a table of one row, a text.
func textTable(name string, text func(ctx context.Context) (string, error)) columnar.Maker {
	return columnar.Maker{Name: name, Make: func(ctx context.Context) (columnar.Table, error) {
		s, err := text(ctx)
		group := columnar.Group{Rows: 1, Columns: []columnar.Counts{{Bytes: columnar.TextLen(s)}}}
		return columnar.NewTable(name, columnar.Required(columnar.Text, "text"), []columnar.Group{group}, func(_ context.Context, b *columnar.Batch, _ int) error {
			b.Text(s)
			return nil
		}), err
	}}
}

// textIn returns the text of a table whose row says of which recording it is.
func textIn(t *testing.T, file, recording string) string {
	t.Helper()
	table := parquettest.Read(t, []byte(file))
	if len(table.Columns) != 3 || table.Rows() != 1 || table.Columns[0].Values[0] != recording {
		t.Errorf("%s: %s", recording, table.Text())
		return ""
	}
	return table.Columns[2].Values[0].(string)
}

// tabled is rec with two tables, unless the recording has no more than its magic. opens counts what
// is opened.
func tabled(opens *atomic.Int32) formats.Format {
	return withTables(func(in formats.Input, body func(context.Context) (string, error)) []columnar.Maker {
		opens.Add(1)
		if in.Size == 3 {
			return nil
		}
		return []columnar.Maker{
			textTable("rows", body),
			textTable("some_more", func(context.Context) (string, error) { return "more of " + in.Name, nil }),
		}
	})
}

// withTables is rec with the tables that a function gives.
func withTables(tables func(in formats.Input, body func(context.Context) (string, error)) []columnar.Maker) formats.Format {
	f := rec
	f.Tree = func(r formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
		plain, _ := rec.Tree(r, c)
		body, _ := nodes.Lookup(context.Background(), plain, "body")
		list := tables(r.Input, func(ctx context.Context) (string, error) {
			b, err := nodes.ReadAll(ctx, body.File)
			return string(b), err
		})
		if list == nil {
			return plain, nil
		}
		shown := func() []columnar.Maker { return list }
		return nodes.List(body, nodes.Entry{Name: "tables", Dir: parquet.Dir(c, r.Input, f.Name, shown)}), shown
	}
	return f
}

// tablesRootOf returns an archive of files with their content.
func tablesRootOf(t *testing.T, opens *atomic.Int32, files map[string]string) (*root, string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		write(t, dir, name, content)
	}
	c := cache.New(1<<20, nil)
	t.Cleanup(c.Close)
	return newRoot(formatstest.OpenLocal(t, dir), []formats.Format{tabled(opens)}, c, archive.Options{}), dir
}

// filesOf returns the files below an entry of the root with their content.
func filesOf(t *testing.T, root nodes.Dir, name string) map[string]string {
	t.Helper()
	e, err := nodes.Child(t.Context(), root, name)
	if err != nil {
		t.Fatal(err)
	}
	return nodestest.Files(t, e.Dir)
}

// TestTables shows the tables of all recordings by kind, under names that engines take for nothing
// else.
func TestTables(t *testing.T) {
	var opens atomic.Int32
	long := strings.Repeat("ä=", 75)
	root, _ := tablesRootOf(t, &opens, map[string]string{
		"x.parquet/a.rec": "RECfour", "x.rec/b.rec": "RECfive", long + ".rec": "RECsix", "a.rec": "RECone", `tick=5/_x/.h:\i%.rec`: "RECtwo", "tick=5/bad\xffä.rec": "RECthree", "none/e.rec": "REC",
		"broken.rec": "junk", "other.txt": "text",
	})
	got := filesOf(t, root, "tables")
	for at, body := range map[string]string{
		"a.rec": "one", `tick=5/_x/.h:\i%.rec`: "two", "tick=5/bad\xffä.rec": "three", "x.parquet/a.rec": "four", "x.rec/b.rec": "five", long + ".rec": "six",
	} {
		file, shown := parquet.EscapePath(at), strings.ToValidUTF8(at, "\ufffd")
		if text := textIn(t, got["rec/rows/"+file], shown); text != body {
			t.Errorf("%s: %q, want %q", file, text, body)
		}
		if text, want := textIn(t, got["rec/some_more/"+file], shown), "more of "+strings.ToValidUTF8(path.Base(at), "\ufffd"); text != want {
			t.Errorf("%s: %q, want %q", file, text, want)
		}
	}
	if text, err := read(t, root, parquetName); len(got) != 13 || got[parquetName] != text || err != nil {
		t.Errorf("%d files, %v: %q", len(got), err, slices.Sorted(maps.Keys(got)))
	}
	e, err := nodes.Child(t.Context(), root, "tables")
	if err != nil {
		t.Fatal(err)
	}
	nodestest.Check(t, e.Dir)
	if names := namesOf(t, root); slices.Contains(names, "tables") || slices.Contains(names, parquetName) {
		t.Errorf("the root lists %q", names)
	}
}

// namesOf returns what a directory lists.
func namesOf(t *testing.T, dir nodes.Dir) (names []string) {
	t.Helper()
	n, err := dir.Len(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		b, _, err := nodes.AppendName(t.Context(), dir, nil, i)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, string(b))
	}
	return names
}

// TestTablesOpensOnce opens each recording once to learn its tables, and none to list them again.
func TestTablesOpensOnce(t *testing.T) {
	var opens atomic.Int32
	root, _ := tablesRootOf(t, &opens, map[string]string{"a.rec": "RECone", "sub/b.rec": "RECtwo"})
	for range 2 {
		e, err := nodes.Lookup(t.Context(), root, "tables/rec/rows")
		if err != nil {
			t.Fatal(err)
		}
		if names := namesOf(t, e.Dir); !slices.Equal(names, []string{"a.rec.parquet", "sub"}) {
			t.Errorf("it lists %q", names)
		}
	}
	if opens.Load() != 2 {
		t.Errorf("%d recordings were opened", opens.Load())
	}
}

// TestTablesFollows shows the table of a recording as it is now.
func TestTablesFollows(t *testing.T) {
	var opens atomic.Int32
	root, dir := tablesRootOf(t, &opens, map[string]string{"a.rec": "RECone"})
	look := func() nodes.Entry {
		t.Helper()
		e, err := nodes.Lookup(t.Context(), root, "tables/rec/rows/a.rec.parquet")
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	before := look()
	if again := look(); again.File != before.File {
		t.Error("a table of the same version is another file")
	}
	write(t, dir, "a.rec", "RECone and more")
	after := look()
	text, err := read(t, root, "tables/rec/rows/a.rec.parquet")
	if n, failed := after.File.Size(t.Context()); n != int64(len(text)) || cmp.Or(err, failed) != nil || after.File == before.File || textIn(t, text, "a.rec") != "one and more" {
		t.Errorf("%d bytes, %v", n, cmp.Or(err, failed))
	}
	if after.Time.Equal(before.Time) {
		t.Error("the time is the same")
	}
}

// TestTablesTouched shows the table of a recording that was touched while it was opened, which
// leaves it unread.
func TestTablesTouched(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.rec", "RECone")
	write(t, dir, "b.rec", "RECtwo")
	var opens atomic.Int32
	f := tabled(&opens)
	open := f.Open
	f.Open = func(ctx context.Context, in formats.Input) (formats.Head, error) {
		if in.Name == "b.rec" && opens.Add(100) < 200 {
			if err := os.Chtimes(filepath.Join(dir, in.Name), time.Time{}, time.Now().Add(-time.Hour)); err != nil {
				t.Error(err)
			}
		}
		return open(ctx, in)
	}
	c := cache.New(1<<20, nil)
	defer c.Close()
	root := newRoot(formatstest.OpenLocal(t, dir), []formats.Format{f}, c, archive.Options{})
	s, err := root.recent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Find(t.Context(), s.pages, "b.rec"); err != nil || !r.Open {
		t.Fatalf("%+v, %v: it was read", r, err)
	}
	text, err := read(t, root, "tables/rec/rows/b.rec.parquet")
	if err != nil || textIn(t, text, "b.rec") != "two" {
		t.Error(err)
	}
}

// TestTablesOfItsOwn shows what the source has under the name.
func TestTablesOfItsOwn(t *testing.T) {
	var opens atomic.Int32
	root, _ := tablesRootOf(t, &opens, map[string]string{"a.rec": "RECone", "tables/own.txt": "own", "recordings.parquet": "own"})
	if got := filesOf(t, root, "tables"); len(got) != 1 || got["own.txt"] != "own" {
		t.Errorf("tables: %q", got)
	}
	if text, err := read(t, root, parquetName); text != "own" || err != nil {
		t.Errorf("%s: %q, %v", parquetName, text, err)
	}
	if _, err := nodes.Lookup(t.Context(), root, "tables/rec"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestTablesThatAppear makes a directory of that name in a source that was at rest and had none.
func TestTablesThatAppear(t *testing.T) {
	var opens atomic.Int32
	root, dir := tablesRootOf(t, &opens, map[string]string{"a.rec": "RECone"})
	atRest := time.Now().Add(-time.Hour)
	if err := os.Chtimes(dir, atRest, atRest); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := filesOf(t, root, "tables"); got["own.txt"] != "" || len(got) == 0 {
			t.Errorf("before: %q", got)
		}
	}
	write(t, dir, "tables/own.txt", "own")
	if got := filesOf(t, root, "tables"); len(got) != 1 || got["own.txt"] != "own" {
		t.Errorf("after: %q", got)
	}
}

// TestRecordingsParquet has the lines of recordings.jsonl as rows.
func TestRecordingsParquet(t *testing.T) {
	var opens atomic.Int32
	root, _ := tablesRootOf(t, &opens, map[string]string{"a.rec": "RECone", "d=1/b.rec": "REC", "broken.rec": "junk", "bad\xff.rec": "RECtwo"})
	text, err := read(t, root, parquetName)
	if err != nil {
		t.Fatal(err)
	}
	table := parquettest.Read(t, []byte(text))
	if table.Metadata["recfs.table"] != "recordings" || table.Rows() != 4 {
		t.Errorf("%d rows, metadata %q", table.Rows(), table.Metadata)
	}
	values := map[string][]any{}
	for _, c := range table.Columns {
		values[c.Name] = c.Values
	}
	for i, want := range []struct{ path, tables string }{
		{"a.rec", "a.rec.parquet"}, {"bad\ufffd.rec", "bad%FF.rec.parquet"}, {"broken.rec", ""}, {"d=1/b.rec", ""},
	} {
		var tables any
		if want.tables != "" {
			tables = want.tables
		}
		if values["path"][i] != want.path || values["tables_path"][i] != tables || values["format"][i] != "rec" {
			t.Errorf("row %d: path %v, tables %v, format %v", i, values["path"][i], values["tables_path"][i], values["format"][i])
		}
		if broken := want.path == "broken.rec"; (values["error"][i] != nil) != broken {
			t.Errorf("%s: error %v", want.path, values["error"][i])
		}
	}
}

// unmeasured is a table that has to be made before its size is known.
func unmeasured(m columnar.Maker) columnar.Maker {
	m.Counted = func(context.Context) bool { return false }
	return m
}

// TestTablesMeasures holds that a listing of tables/ makes no table that a listing of the recording
// does not make.
func TestTablesMeasures(t *testing.T) {
	f := withTables(func(_ formats.Input, body func(context.Context) (string, error)) []columnar.Maker {
		return []columnar.Maker{textTable("known", body), unmeasured(textTable("made", body))}
	})
	dir := t.TempDir()
	write(t, dir, "a.rec", "REC a")
	c := cache.New(1<<20, nil)
	t.Cleanup(c.Close)
	root := newRoot(formatstest.OpenLocal(t, dir), []formats.Format{f}, c, archive.Options{})
	for table, want := range map[string]bool{"known": true, "made": false} {
		e, err := nodes.Lookup(t.Context(), root, "tables/rec/"+table+"/a.rec.parquet")
		if err != nil {
			t.Fatal(err)
		}
		m, ok := e.File.(nodes.Measured)
		if got := !ok || m.IsMeasured(t.Context()); got != want {
			t.Errorf("the size of %s is known: %v", table, got)
		}
	}
}

// countedReads counts what is read of the files of a tree.
type countedReads struct {
	source.Tree
	reads *nodestest.Counted
}

func (c countedReads) Open(ctx context.Context, name string) (source.File, error) {
	f, err := c.Tree.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return countedFile{f, c.reads}, nil
}

type countedFile struct {
	source.File
	reads *nodestest.Counted
}

func (f countedFile) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	f.reads.Reads.Add(1)
	n, err := f.File.ReadAt(ctx, p, off)
	f.reads.Bytes.Add(int64(n))
	return n, err
}

// measuredTables is raced with a table whose size is that of the recording, and one that has to be
// made. trees counts the recordings that are opened.
func measuredTables(trees *atomic.Int32) formats.Format {
	f := raced()
	plain := f.Tree
	f.Tree = func(r formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
		trees.Add(1)
		dir, _ := plain(r, c)
		index, _ := nodes.Lookup(context.Background(), dir, "index.json")
		rows := func(ctx context.Context) (string, error) {
			_, err := r.Index(ctx)
			return strings.Repeat("row", int(r.Size)), err
		}
		list := []columnar.Maker{textTable("rows", rows), unmeasured(textTable("made", rows))}
		tables := func() []columnar.Maker { return list }
		return nodes.List(index, nodes.Entry{Name: "tables", Dir: parquet.Dir(c, r.Input, f.Name, tables)}), tables
	}
	return f
}

// sizesBelow returns the sizes that a listing with attributes shows of the files in a directory, -1
// for those it leaves out.
func sizesBelow(t *testing.T, root nodes.Dir, name string) map[string]int64 {
	t.Helper()
	e, err := nodes.Lookup(t.Context(), root, name)
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	for _, name := range namesOf(t, e.Dir) {
		file, err := nodes.Child(t.Context(), e.Dir, name)
		if err != nil {
			t.Fatal(err)
		}
		if file.File == nil {
			continue
		}
		sizes[name] = -1
		if m, ok := file.File.(nodes.Measured); !ok || m.IsMeasured(t.Context()) {
			if sizes[name], err = file.File.Size(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return sizes
}

// A measuredArchive has a.rec, b.rec and c.tar/d.rec of measuredTables.
type measuredArchive struct {
	dir, store string
	formats    []formats.Format
	reads      nodestest.Counted
	trees      atomic.Int32
}

// newMeasured returns one whose recordings have their indexes on disk.
func newMeasured(t *testing.T) *measuredArchive {
	t.Helper()
	m := &measuredArchive{dir: t.TempDir(), store: t.TempDir()}
	m.formats = []formats.Format{measuredTables(&m.trees)}
	write(t, m.dir, "a.rec", "REC a")
	write(t, m.dir, "b.rec", "REC of b")
	write(t, m.dir, "c.tar", string(formatstest.Tar(t, entry{"d.rec", "REC in c"})))
	first := m.start(t)
	for _, name := range []string{"a.rec", "b.rec", "c.tar/d.rec"} {
		if _, err := read(t, first, name+"/index.json"); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// start returns the archive as another process sees it, which has opened no recording.
func (m *measuredArchive) start(t *testing.T) *root {
	t.Helper()
	disk := cache.NewDisk(m.store, 16<<20, nil)
	c := cache.New(1<<20, disk)
	t.Cleanup(c.Close)
	return newRoot(countedReads{formatstest.OpenLocal(t, m.dir), &m.reads}, m.formats, c, archive.Options{Disk: disk})
}

// count begins to count what is opened and read.
func (m *measuredArchive) count() {
	m.trees.Store(0)
	m.reads.Reads.Store(0)
}

// wantNoneOpened fails the test if something was.
func (m *measuredArchive) wantNoneOpened(t *testing.T) {
	t.Helper()
	if m.trees.Load() > 0 || m.reads.Reads.Load() > 0 {
		t.Errorf("%d recordings were opened, and %d times was one read", m.trees.Load(), m.reads.Reads.Load())
	}
}

// TestTablesSizes holds that a listing with attributes of tables/ opens no recording that has an
// index, and reads nothing of one, but for the tables that are made to know their size; and that
// the sizes are those of what is there now.
func TestTablesSizes(t *testing.T) {
	m := newMeasured(t)
	if _, err := read(t, m.start(t), Name); err != nil { // which learns of the indexes
		t.Fatal(err)
	}
	root := m.start(t)
	if _, err := nodes.Lookup(t.Context(), root, "tables/rec/rows/c.tar/d.rec.parquet"); err != nil { // the list of c.tar
		t.Fatal(err)
	}
	m.count()
	known := sizesBelow(t, root, "tables/rec/rows")
	known["c.tar/d.rec.parquet"] = sizesBelow(t, root, "tables/rec/rows/c.tar")["d.rec.parquet"]
	m.wantNoneOpened(t)
	sizes := map[string]int64{}
	for name, content := range nodestest.Files(t, first(nodes.Lookup(t.Context(), m.start(t), "tables/rec/rows")).Dir) {
		sizes[name] = int64(len(content))
	}
	if diff := gocmp.Diff(sizes, known); diff != "" || len(sizes) != 3 {
		t.Errorf("(-read +known):\n%s", diff)
	}
	if got := sizesBelow(t, root, "tables/rec/made")["a.rec.parquet"]; got != -1 {
		t.Errorf("a table that has to be made is listed with %d bytes", got)
	}
	write(t, m.dir, "a.rec", "REC a, grown")
	if got := sizesBelow(t, root, "tables/rec/rows")["a.rec.parquet"]; got != sizes["a.rec.parquet"]+3*int64(len(", grown")) {
		t.Errorf("%d bytes after the recording grew", got)
	}
}

// TestTablesOfAnotherSize holds that a table which has not as many bytes as were told is stale.
func TestTablesOfAnotherSize(t *testing.T) {
	for _, name := range []string{"a.rec", "c.tar/d.rec"} {
		m := newMeasured(t)
		table := "tables/rec/rows/" + name + ".parquet"
		if _, err := read(t, m.start(t), table); err != nil {
			t.Fatal(err)
		}
		tree := m.formats[0].Tree
		m.formats[0].Tree = func(r formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
			dir, list := tree(r, c)
			list()[0] = textTable("rows", func(context.Context) (string, error) { return "longer" + strings.Repeat("row", int(r.Size)), nil })
			return dir, list
		}
		if text, err := read(t, m.start(t), table); !errors.Is(err, nodes.ErrStale) {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
}

// TestTablesForgotten holds that tables of an archive at rest, and what its catalogue said when it
// was looked up, are never stale, though indexes are made beside it and nothing stays in memory.
func TestTablesForgotten(t *testing.T) {
	m := &measuredArchive{dir: t.TempDir(), store: t.TempDir()}
	m.formats = []formats.Format{measuredTables(&m.trees)}
	for i := range 20 {
		write(t, m.dir, fmt.Sprintf("%02d.rec", i), "REC a")
	}
	disk := cache.NewDisk(m.store, 1<<20, nil)
	c := cache.New(1<<10, disk)
	t.Cleanup(c.Close)
	root := newRoot(formatstest.OpenLocal(t, m.dir), m.formats, c, archive.Options{Disk: disk})
	before := map[string]nodes.Entry{}
	for _, name := range []string{Name, parquetName} {
		e, err := nodes.Lookup(t.Context(), root, name)
		if err != nil {
			t.Fatal(err)
		}
		before[name] = e
	}
	for i := range 20 {
		name := fmt.Sprintf("%02d.rec", i)
		if text, err := read(t, root, "tables/rec/rows/"+name+".parquet"); err != nil || textIn(t, text, name) != strings.Repeat("row", 5) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if _, err := read(t, root, name+"/index.json"); err != nil { // the catalogue says more of it now
			t.Error(err)
		}
		if _, err := read(t, root, Name); err != nil {
			t.Error(err)
		}
		rows, err := nodes.Lookup(t.Context(), root, "tables/rec/rows")
		if err != nil || len(namesOf(t, rows.Dir)) != 20 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, e := range before {
		size, err := e.File.Size(t.Context())
		if b, readErr := nodes.ReadAll(t.Context(), e.File); err != nil || readErr != nil || int64(len(b)) != size {
			t.Errorf("%s as it was: %d bytes of %d, %v", name, len(b), size, readErr)
		}
	}
}

// TestTablesBeside holds that tables which depend on what lies beside a recording are looked at.
func TestTablesBeside(t *testing.T) {
	m := newMeasured(t)
	m.formats[0].Beside = &formats.Beside{
		Sum:   func(formats.Head) string { return "" },
		Files: func(formats.Input, formats.Head) ([]string, bool) { return nil, false },
	}
	m.store = t.TempDir()
	if _, err := read(t, m.start(t), "a.rec/index.json"); err != nil {
		t.Fatal(err)
	}
	root := m.start(t)
	m.count()
	got := sizesBelow(t, root, "tables/rec/rows")["a.rec.parquet"]
	if text, err := read(t, root, "tables/rec/rows/a.rec.parquet"); got != int64(len(text)) || err != nil || m.trees.Load() == 0 {
		t.Errorf("%d bytes of %d, %v, %d recordings were opened", got, len(text), err, m.trees.Load())
	}
}
