package catalogue

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/datafile"
	"recfs/formats/echo"
	"recfs/formats/hcrp"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/testing/parquettest"
	"recfs/formats/nethack"
	"recfs/formats/teehistorian"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// TestSavedLayout holds records of the samples to the number of the layout: so one who changes what
// indexes say or how large tables are learns here which number is to be raised.
func TestSavedLayout(t *testing.T) {
	nodestest.Saved(t, "testdata/saved.sums", layout, func(b []byte) []byte {
		dir := t.TempDir()
		write(t, dir, "sample", string(b))
		root := archive.New(formatstest.OpenLocal(t, dir), allFormats(), formatstest.NewCache(t), archive.Options{Sniff: true})
		e, err := nodes.Lookup(t.Context(), root, "sample")
		r, ok := archive.RecordingOf(e.Dir)
		if err != nil || !ok {
			t.Fatalf("the sample is not a recording, %v", err)
		}
		d := digestOf(t.Context(), r, formatstest.NewCache(t))
		if !d.Indexed || d.Error != "" {
			t.Fatalf("it is not known: %+v", d)
		}
		return savedRecord(t, ledger.Record{
			Path: "sample", Stamp: formats.Stamp{Size: 1, Modified: 2, Nanos: 3, Changed: 4, Born: 5, Inode: 6}, Inner: true, Pending: "index",
			Line: d.line(), Outcome: d.Outcome.text(), Beside: d.beside, Format: r.Format().Name, Tables: d.tables,
		})
	}, samples+"datafile/maps/*.map", samples+"hcrp/*.hcrp", samples+"nethack/*.nhgame", samples+"butter/*.butter",
		samples+"butter/*.echoreplay", samples+"teehistorian/*.teehistorian")
}

const samples = "../../testdata/archive/"

func allFormats() []formats.Format {
	return []formats.Format{hcrp.New(hcrp.Options{}), datafile.New(datafile.Options{}), nethack.Format, echo.NewButter(echo.Options{}), echo.Replay, teehistorian.Format}
}

// TestTablesOfSamples holds that what is known of tables without opening a recording is what the
// recording shows.
func TestTablesOfSamples(t *testing.T) {
	for _, name := range []string{"teehistorian/*.teehistorian", "nethack/*.nhgame", "butter/*.butter", "butter/*.echoreplay", "datafile/maps/*.map"} {
		files, err := filepath.Glob(samples + name)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) { checkKnownTables(t, file) })
		}
	}
}

func checkKnownTables(t *testing.T, file string) {
	dir, name := t.TempDir(), filepath.Base(file)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, name, string(b))
	disk := cache.NewDisk(t.TempDir(), 1<<20, nil)
	start := func() *root {
		c := cache.New(1<<20, disk)
		t.Cleanup(c.Close)
		return newRoot(formatstest.OpenLocal(t, dir), allFormats(), c, archive.Options{Disk: disk, Sniff: true})
	}
	e, err := nodes.Lookup(t.Context(), start(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, e.Dir, "index.json"); err != nil {
		t.Fatal(err)
	}
	root := start()
	known, err := root.survey(t.Context(), first(root.Current(t.Context())), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := known.Find(t.Context(), root.c.pages, name)
	if err != nil || r == nil {
		t.Fatalf("no record, %v", err)
	}
	got, want := map[string]int64{}, map[string]int64{}
	for _, table := range r.Tables {
		got[table.Name] = table.Size
		if table.Size != ledger.Unknown {
			got[table.Name] = parquet.NamedSize(table.Size, table.Groups, name)
		}
		text, err := read(t, root, "tables/"+r.Format+"/"+table.Name+"/"+parquet.EscapePath(name))
		if err != nil {
			t.Fatal(err)
		}
		want[table.Name] = int64(len(text))
		checkSingle(t, root, r.Format, table, text)
	}
	if _, ok := want["tiles"]; ok {
		want["tiles"] = ledger.Unknown // it is made to know its size
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-opened +known):\n%s", diff)
	}
	// What is known stays so for a recording that is moved, whose tables tell another name.
	moved := "in/a folder/and called otherwise." + name
	write(t, dir, moved, string(b))
	root = start()
	for _, table := range r.Tables {
		if table.Size == ledger.Unknown {
			continue
		}
		text, err := read(t, root, "tables/"+r.Format+"/"+table.Name+"/"+parquet.EscapePath(moved))
		if known := parquet.NamedSize(table.Size, table.Groups, moved); err != nil || known != int64(len(text)) {
			t.Errorf("%s of another name has %d bytes, not %d, %v", table.Name, len(text), known, err)
		}
	}
}

// checkSingle holds that the file over all recordings, if there is one, has the rows of the only
// one.
func checkSingle(t *testing.T, root *root, format string, table ledger.Table, one string) {
	t.Helper()
	if _, _, ok := root.single(format + "/" + table.Name); !ok {
		return
	}
	text, err := read(t, root, "tables/"+format+"/"+table.Name+".parquet")
	if err != nil {
		t.Fatal(err)
	}
	all, want := parquettest.Read(t, []byte(text)), parquettest.Read(t, []byte(one))
	values := func(table *parquettest.Table) (list [][]any) {
		for _, c := range table.Columns {
			list = append(list, c.Values)
		}
		return list
	}
	if diff := cmp.Diff(values(want), values(all)); diff != "" || all.Metadata["recfs.recordings"] != "1" {
		t.Errorf("%s, metadata %v: (-of the recording +of all):\n%s", table.Name, all.Metadata, diff)
	}
}

// first returns the first of two results.
func first[T any](v T, _ error) T { return v }

// savedRecord returns what the disk keeps of a list of one record.
func savedRecord(t *testing.T, r ledger.Record) []byte {
	disk := cache.NewDisk(t.TempDir(), 1<<20, nil)
	sink := ledger.NewSink(disk, "list")
	w := ledger.NewWriter(sink)
	w.Append(r)
	sink.Save(w.List(), true)
	f, err := disk.Open("list")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	saved, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}
