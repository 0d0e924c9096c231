package archive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zip"

	"recfs/formats"
	"recfs/formats/container"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// manyEntries are n files in directories of a thousand.
func manyEntries(n int) []entry {
	entries := make([]entry, n)
	for i := range entries {
		entries[i] = entry{fmt.Sprintf("dir%03d/%07d-name", i/1000, i), "x"}
	}
	return entries
}

// TestRawUnopened reads the bytes of recordings that are not opened for it: in a folder,
// compressed, and in containers.
func TestRawUnopened(t *testing.T) {
	opened := 0
	format := formatstest.Plain(formats.Format{Name: "rec", Extensions: []string{".rec"}}, func(context.Context, formats.Input) error {
		opened++
		return nil
	}, recTree)
	dir := t.TempDir()
	packed := string(formatstest.Gzip(t, []byte("RECpacked")))
	for name, content := range map[string]string{
		"a.rec": "RECplain", "a.rec.gz": packed,
		"a.tar": string(formatstest.Tar(t, entry{"a.rec", "RECtar"}, entry{"a.rec.gz", packed})),
		"a.zip": string(packZip(t, zip.Deflate, entry{"a.rec", "RECzip"})),
	} {
		write(t, dir, name, content)
	}
	root := New(formatstest.OpenLocal(t, dir), []formats.Format{format}, formatstest.NewCache(t), Options{})
	for name, want := range map[string]string{
		"a.rec": "RECplain", "a.rec.gz": packed, "a.tar/a.rec": "RECtar", "a.tar/a.rec.gz": packed, "a.zip/a.rec": "RECzip",
	} {
		if got, err := read(t, root, name+"/raw"); got != want || err != nil || opened > 0 {
			t.Errorf("%s: %q, %v; opened %d times", name, got, err, opened)
		}
	}
	if got, err := read(t, root, "a.zip/a.rec/body"); got != "zip" || err != nil || opened != 1 {
		t.Errorf("body: %q, %v; opened %d times", got, err, opened)
	}
}

func TestNestedCost(t *testing.T) {
	nodestest.Long(t)
	const n = 100_000
	dir := t.TempDir()
	entries := manyEntries(n)
	write(t, dir, "a.tar", string(formatstest.Tar(t, entries...)))
	write(t, dir, "a.zip", string(packZip(t, zip.Store, entries...)))
	for _, name := range []string{"a.tar", "a.zip"} {
		root, c := newArchiveWith(t, dir, "", 0, 64<<20)
		held := heapSize()
		if got, err := read(t, root, name+"/dir099/0099999-name"); got != "x" || err != nil {
			t.Fatalf("%s: %q, %v", name, got, err)
		}
		held, counted := heapSize()-held, c.Stats().Bytes
		if counted > 80*n || held > counted+counted/2+1<<20 {
			t.Errorf("%s: the list of %d members takes %d bytes and counts as %d", name, n, held, counted)
		}
		runtime.KeepAlive(root)
	}
}

func heapSize() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Directories that are in use survive their container going from the cache.
func TestNestedEvicted(t *testing.T) {
	nodestest.Long(t)
	const n = 5000
	dir := t.TempDir()
	for i := range 5 {
		write(t, dir, fmt.Sprintf("%d.tar", i), string(formatstest.Tar(t, manyEntries(n)...)))
	}
	root, c := newArchiveWith(t, dir, "", 0, 1<<20)
	var held []nodes.Dir
	for range 2 {
		for i := range 5 {
			e, err := nodes.Lookup(t.Context(), root, fmt.Sprintf("%d.tar/dir002", i))
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, e.Dir)
		}
	}
	for i, d := range held {
		e, err := nodes.Lookup(t.Context(), d, fmt.Sprintf("%07d-name", 2000+i))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := nodes.ReadAll(t.Context(), e.File); string(b) != "x" || err != nil {
			t.Errorf("%q, %v", b, err)
		}
	}
	if b := c.Stats().Bytes; b > 1<<20+64<<10 {
		t.Errorf("%d bytes in a cache of 1 MiB", b)
	}
}

func TestNestedLimit(t *testing.T) {
	nodestest.Long(t)
	dir := t.TempDir()
	entries := manyEntries(20_000)
	write(t, dir, "a.tar", string(formatstest.Tar(t, entries...)))
	write(t, dir, "a.zip", string(packZip(t, zip.Store, entries...)))
	root, _ := newArchiveWith(t, dir, "", 0, 1<<20)
	for _, name := range []string{"a.tar", "a.zip"} {
		got, err := read(t, root, name+"/error.txt")
		if err != nil || !strings.Contains(got, "it holds too many files") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestNestedSaved(t *testing.T) {
	dir, disk := t.TempDir(), t.TempDir()
	write(t, dir, "a.tar", string(formatstest.Tar(t, append(manyEntries(2000), nestedEntries...)...)))
	first, _ := newArchiveWith(t, dir, disk, 1<<30, 64<<20)
	want := show(t, first)
	a := first.(rootDir).Target.a
	info, err := a.tree.Stat(t.Context(), "a.tar")
	if err != nil {
		t.Fatal(err)
	}
	k := recordingKey{path: "a.tar", name: "a.tar", v: info.Version, format: noFormat, kind: container.Tar}
	saved := func(k recordingKey) *container.Members {
		b, _ := a.opt.Disk.Load(t.Context(), a.listPlace(k).Name(t.Context()))
		return container.Decode(b, k.v.Stamp, 1<<30)
	}
	if saved(k) == nil {
		t.Fatal("the list was not saved")
	}
	second, _ := newArchiveWith(t, dir, disk, 1<<30, 64<<20)
	wantTree(t, show(t, second), want)
	k.v.Nanos++
	if saved(k) != nil {
		t.Error("a list of another version was used")
	}
}

// A list tells what the files are whose names do not say it: none is opened for that.
func TestListKnowsKinds(t *testing.T) {
	dir, disk := t.TempDir(), t.TempDir()
	entries := manyEntries(2000)
	for i := range entries {
		entries[i][0] += ".lump"
		if i%2 == 0 {
			entries[i][1] = "LUMP"
		}
	}
	write(t, dir, "a.tar.gz", string(formatstest.Gzip(t, formatstest.Tar(t, entries...))))
	for _, again := range []bool{false, true} {
		root, c := newArchiveWith(t, dir, disk, 1<<30, 1<<20) // too small to hold the tar
		_, err := nodes.Lookup(t.Context(), root, "a.tar.gz/dir000")
		if err != nil {
			t.Fatal(err)
		}
		before := c.Stats().Misses
		for n := range entries {
			i := n * 997 % len(entries) // far from the one before
			e := entries[i]
			got, err := nodes.Lookup(t.Context(), root, "a.tar.gz/"+e[0])
			if err != nil || (got.Dir != nil) != (i%2 == 0) {
				t.Fatalf("%s: %+v, %v", e[0], got, err)
			}
		}
		// Each kind is decided once, and nothing is decompressed.
		if n := c.Stats().Misses - before; n > int64(len(entries)+len(entries)/10) {
			t.Errorf("listed before: %v; %d computations for %d files", again, n, len(entries))
		}
	}
}

// A tar in a tar says less of its version than a file: its list is not kept.
func TestNestedSavedInside(t *testing.T) {
	dir, disk := t.TempDir(), t.TempDir()
	for _, name := range []string{"a", "b"} {
		entries := manyEntries(2000)
		entries[1999][0] = name
		outer := formatstest.Tar(t, entry{"inner.tar", string(formatstest.Tar(t, entries...))})
		write(t, dir, name, string(outer))
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, "outer.tar")); err != nil {
			t.Fatal(err)
		}
		root, _ := newArchiveWith(t, dir, disk, 1<<30, 64<<20)
		if got, err := read(t, root, "outer.tar/inner.tar/"+name); got != "x" || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestNestedWithoutCache(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.tar", string(formatstest.Tar(t, manyEntries(10)...)))
	root, _ := newArchiveWith(t, dir, "", 0, 0)
	if got, err := read(t, root, "a.tar/dir000/0000001-name"); got != "x" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
