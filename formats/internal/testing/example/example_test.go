package example

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

func openBytes(t testing.TB, b []byte) (nodes.Dir, error) {
	return formatstest.Open(t.Context(), Format, formatstest.BytesInput("x.scores", b, time.Unix(1e9, 0)), formatstest.NewCache(t))
}

func TestGolden(t *testing.T) {
	for _, file := range []string{"testdata/clean.txtar", "testdata/damaged.txtar"} {
		nodestest.Golden(t, file, func(b []byte) (nodes.Dir, error) { return openBytes(t, b) }, parquettest.Show)
	}
}

// An index on disk with any content, and the right checksum, does no harm.
func TestForgedIndex(t *testing.T) {
	formatstest.Forged(t, Format, "testdata/clean.txtar", "testdata/damaged.txtar")
}

func TestSavedIndex(t *testing.T) {
	nodestest.Saved(t, "testdata/saved.sums", indexfile.Layout, func(b []byte) []byte {
		h, x := scanBytes(t, b)
		return x.Append(h.Append(nil))
	}, "testdata/*.txtar")
}

func scanBytes(t testing.TB, b []byte) (formats.Head, formats.Index) {
	t.Helper()
	in := formatstest.BytesInput("x.scores", b, time.Unix(1e9, 0))
	h, err := open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	x, err := scan(t.Context(), in, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h, x
}

func TestPrefixes(t *testing.T) {
	formatstest.Prefixes(t, Format, []byte(longLog(2500)+ending), []byte(longLog(700)+broken(newChunk(900, 0, "x").frame())+longLog(700)[len(head):]))
}

// Wherever the log was cut when it was indexed, going on gives the index of the whole.
func TestGrowth(t *testing.T) {
	whole := longLog(2500) + ending
	_, want := scanBytes(t, []byte(whole))
	for n := len(head); n <= len(whole); n += 37 {
		h, x := scanBytes(t, []byte(whole[:n]))
		in := formatstest.BytesInput("x.scores", []byte(whole), time.Unix(1e9, 0))
		x, err := readIndex(in, h, x.Append(nil))
		if err == nil {
			x, err = scan(t.Context(), in, h, x)
		}
		if err != nil || string(x.Append(nil)) != string(want.Append(nil)) {
			t.Fatalf("from byte %d on: another index, %v", n, err)
		}
	}
}

// What grows while the log is written never changes what it has shown.
func TestGrowingFiles(t *testing.T) {
	damaged := newChunk(201, 0, "a").add(202, 0, 1).add(203, 1, 1).frame()
	formatstest.Growing(t, Format, []byte(longLog(600)+broken(damaged)+damaged+ending), len(head), 7, "export/changes.csv")
}

// A tick reads its own chunk, and what is saved stands without a read.
func TestReads(t *testing.T) {
	in := formatstest.BytesInput("x.scores", []byte(longLog(20_000)), time.Unix(1e9, 0))
	in.Stamp = formats.Stamp{Size: in.Size, Changed: 1}
	counted := &nodestest.Counted{ReaderAt: in.ReaderAt}
	in.ReaderAt = counted
	shelf := &nodestest.Shelf{}
	formatstest.Keep(&in, shelf)
	var root nodes.Dir
	for range 2 {
		c := cache.New(1<<20, shelf)
		defer c.Close()
		var err error
		if root, err = formatstest.Open(t.Context(), Format, in, c); err != nil {
			t.Fatal(err)
		}
		counted.Bytes.Store(0)
		nodestest.Read(t, root, "index.json")
	}
	if n := counted.Bytes.Load(); n > 0 {
		t.Errorf("index.json reads %d bytes again", n)
	}
	if got := nodestest.Read(t, root, "states/3000.json"); !strings.Contains(got, `{"player":"player0","score":9000}`) {
		t.Errorf("states/3000.json is %s", got)
	}
	if n := counted.Bytes.Load(); n > 2000 {
		t.Errorf("a tick reads %d bytes", n)
	}
}

// The archive shows a recording the same plain, compressed and in a container, by its name or its
// first bytes.
func TestArchive(t *testing.T) {
	dir, log := t.TempDir(), longLog(3000)
	for name, b := range map[string][]byte{
		"x.scores": []byte(log), "packed.scores.gz": formatstest.Gzip(t, []byte(log)), "unnamed": []byte(log),
		"all.tar": formatstest.Tar(t, formatstest.Member{"x.scores", log}),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root := archive.New(formatstest.OpenLocal(t, dir), []formats.Format{Format}, formatstest.NewCache(t), archive.Options{Sniff: true})
	want := nodestest.Read(t, root, "x.scores/states/@10:00:04.json")
	if !strings.Contains(want, `"tick": 80`) {
		t.Errorf("10:00:04 is %s", want)
	}
	for _, name := range []string{"packed.scores.gz", "unnamed", "all.tar/x.scores"} {
		if got := nodestest.Read(t, root, name+"/states/80.json"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A stream that is cut shows what came out of it, and says so.
func TestDamagedStream(t *testing.T) {
	dir := t.TempDir()
	packed := formatstest.Gzip(t, []byte(longLog(30_000)))
	if err := os.WriteFile(filepath.Join(dir, "x.scores.gz"), packed[:len(packed)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	root := archive.New(formatstest.OpenLocal(t, dir), []formats.Format{Format}, formatstest.NewCache(t), archive.Options{})
	if got := nodestest.Read(t, root, "x.scores.gz/index.json"); !strings.Contains(got, `"complete": false`) || !strings.Contains(got, `"end": "cut"`) {
		t.Errorf("index.json is %s", got)
	}
	nodestest.Read(t, root, "x.scores.gz/lines/0.jsonl")
}

// FuzzOpen opens any bytes and reads the whole tree.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(longLog(5) + ending))
	f.Add([]byte(longLog(2) + broken(newChunk(7, 0, "x").frame()) + "3 a"))
	f.Add([]byte(head + newChunk(7, 0, "x").add(7, 3, 1).frame()))
	f.Fuzz(func(t *testing.T, b []byte) {
		if root, err := openBytes(t, b); err == nil {
			nodestest.Check(t, root)
		}
	})
}
