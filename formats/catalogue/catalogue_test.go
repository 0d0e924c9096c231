package catalogue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/columnar"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/source"
	"recfs/formats/views"
	"recfs/nodes"
)

// logged is a format with a header and an index that costs a scan. scans
// counts them.
func logged(opens, scans *atomic.Int64) formats.Format {
	f := formatstest.Plain(formats.Format{
		Name:       "logged",
		Extensions: []string{".log"},
		Match:      func(head []byte) bool { return strings.HasPrefix(string(head), "LOG") },
		MatchNamed: func(head []byte) bool { return strings.HasPrefix(string(head), "LOG") },
	}, func(ctx context.Context, in formats.Input) error {
		opens.Add(1)
		if _, err := in.ReadAt(ctx, make([]byte, 4), 0); err != nil {
			return formats.Corrupt("logged", 0, "no header")
		}
		return nil
	}, nil)
	scan := f.Scan
	f.Scan = func(ctx context.Context, in formats.Input, h formats.Head, earlier formats.Index) (formats.Index, error) {
		scans.Add(1)
		if _, err := in.ReadAt(ctx, make([]byte, in.Size), 0); err != nil {
			return nil, err
		}
		return scan(ctx, in, h, earlier)
	}
	f.Tree = func(rec formats.Recording, _ *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
		return nodes.List(nodes.Entry{Name: "index.json", File: views.JSON(func(ctx context.Context) (any, error) { return rec.Index(ctx) })}), nil
	}
	f.Summary = func(_ context.Context, rec formats.Recording, x formats.Index) (formats.Summary, error) {
		start, castle := time.Date(2026, 1, 2, 1, 4, 5, 0, time.UTC), "castle"
		s := formats.Summary{Start: &start, Map: &castle, Players: []string{"ann"}}
		if x != nil {
			start, length, ticks := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 1500*time.Millisecond, rec.Size-4
			s.Start, s.Duration, s.Ticks, s.Complete, s.Problems = &start, &length, &ticks, true, slices.Values([]formats.Problem{{Code: "a"}, {Code: "b"}})
			s.AddPlayers([]string{"rob", "bob", "ann"})
		}
		return s, nil
	}
	return f
}

func TestCatalogue(t *testing.T) {
	dir, store := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{
		"a.log": "LOG ticks", "sub/b.log": "LOG more ticks", "c.log": "not one", "other": "text", "bad.log": "LOG",
		"link": "->sub", "bad\xff.log": "LOG x",
	} {
		write(t, dir, name, content)
	}
	var opens, scans atomic.Int64
	open := func() *root {
		fsys := formatstest.OpenLocal(t, dir)
		disk := cache.NewDisk(store, 1<<20, nil)
		c := cache.New(1<<20, disk)
		t.Cleanup(c.Close)
		return newRoot(fsys, []formats.Format{logged(&opens, &scans)}, c, archive.Options{Disk: disk})
	}
	lines := func(root nodes.Dir) map[string]string {
		t.Helper()
		text, err := read(t, root, Name)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for line := range strings.Lines(text) {
			var s Summary
			if err := json.Unmarshal([]byte(line), &s); err != nil {
				t.Fatal(err)
			}
			s.Modified = "M"
			b, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			found[s.Path] = string(b)
		}
		return found
	}
	const header = `"indexed":false,"start":"2026-01-02T01:04:05Z","duration_ms":null,"ticks":null,"map":"castle","players":["ann"]`
	const index = `"indexed":true,"start":"2026-01-01T00:00:00Z","duration_ms":1500,"ticks":%d,"map":"castle","players":["ann","rob","bob"]`
	want := func(path, what string, size int, rest string) string {
		return fmt.Sprintf(`{"path":%q,"format":"logged",%s,"size":%d,"modified":"M",%s}`, path, what, size, rest)
	}
	root := open()
	got := lines(root)
	for path, line := range map[string]string{
		"a.log":     want("a.log", header, 9, `"complete":null,"finished":null,"problems":null`),
		"sub/b.log": want("sub/b.log", header, 14, `"complete":null,"finished":null,"problems":null`),
		"bad.log": want("bad.log", `"indexed":true,"start":null,"duration_ms":null,"ticks":null,"map":null,"players":null`, 3,
			`"complete":false,"finished":null,"problems":1,"error":"logged: at 0x0: no header"`),
	} {
		if got[path] != line {
			t.Errorf("%s\nwant %s", got[path], line)
		}
	}
	if len(got) != 4 || opens.Load() != 4 || scans.Load() != 0 {
		t.Errorf("%d lines, %d opened, %d scanned", len(got), opens.Load(), scans.Load())
	}
	names, err := nodes.Lookup(t.Context(), root, ".")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := names.Dir.(nodes.Volatile).Snapshot(t.Context()); err != nil {
		t.Error(err)
	} else if _, err := s.Find(t.Context(), Name); err == nil {
		t.Error("the catalogue is listed")
	}

	// The second time nothing is opened.
	opens.Store(0)
	if lines(open()); opens.Load() != 0 {
		t.Errorf("%d opened the second time", opens.Load())
	}
	first, _ := nodes.Lookup(t.Context(), root, Name)
	second, _ := nodes.Lookup(t.Context(), root, Name)
	if first.File != second.File {
		t.Error("the same catalogue is another file")
	}

	// An index that was made meanwhile tells more, although it is not kept itself, and nothing is
	// opened.
	if _, err := read(t, root, "sub/b.log/index.json"); err != nil {
		t.Fatal(err)
	}
	opens.Store(0)
	scans.Store(0)
	got = lines(open())
	if line := want("sub/b.log", fmt.Sprintf(index, 10), 14, `"complete":true,"finished":false,"problems":2`); got["sub/b.log"] != line {
		t.Errorf("%s\nwant %s", got["sub/b.log"], line)
	}
	if opens.Load() != 0 || scans.Load() != 0 {
		t.Errorf("%d opened, %d scanned", opens.Load(), scans.Load())
	}

	// After a change of the mode alone it is looked at again, and tells as much.
	if err := os.Chmod(filepath.Join(dir, "sub/b.log"), 0o640); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		opens.Store(0)
		got = lines(open())
		if line := want("sub/b.log", fmt.Sprintf(index, 10), 14, `"complete":true,"finished":false,"problems":2`); got["sub/b.log"] != line {
			t.Errorf("%s\nwant %s", got["sub/b.log"], line)
		}
	}
	if opens.Load() != 0 {
		t.Errorf("%d opened the second time after a change of mode", opens.Load())
	}

	// What changed is opened again, what is gone is gone.
	formatstest.AppendTo(t, filepath.Join(dir, "a.log"), "!")
	if err := os.Remove(filepath.Join(dir, "bad.log")); err != nil {
		t.Fatal(err)
	}
	opens.Store(0)
	got = lines(open())
	if line := want("a.log", header, 10, `"complete":null,"finished":null,"problems":null`); got["a.log"] != line || len(got) != 3 || opens.Load() != 1 {
		t.Errorf("%d lines, %d opened, %s", len(got), opens.Load(), got["a.log"])
	}

	// An index of another version tells nothing.
	formatstest.AppendTo(t, filepath.Join(dir, "sub/b.log"), "!")
	if line := want("sub/b.log", header, 15, `"complete":null,"finished":null,"problems":null`); lines(open())["sub/b.log"] != line {
		t.Errorf("no %s", line)
	}

	var paths []string
	for s, err := range summariesOf(t, open()) {
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, s.Path)
	}
	if want := []string{"a.log", "bad�.log", "sub/b.log"}; !slices.Equal(paths, want) {
		t.Errorf("%q, want %q", paths, want)
	}
	for _, err := range open().c.Summaries(t.Context(), nodes.List()) {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
	}
}

// The paths of Summaries are relative to the directory that is asked for, whatever that is.
func TestSummariesBelow(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.log", "LOG one")
	write(t, dir, "sub/b.log", "LOG two")
	write(t, dir, "sub/in.tar", string(formatstest.Tar(t, entry{"d/x.log", "LOG three"})))
	fsys := formatstest.OpenLocal(t, dir)
	var opens, scans atomic.Int64
	list, opt, c := []formats.Format{logged(&opens, &scans)}, archive.Options{Disk: cache.NewDisk(t.TempDir(), 1<<20, nil)}, formatstest.NewCache(t)
	known := New(c, opt)
	root := known.Root(archive.New(fsys, list, c, opt))
	file := func(name string) nodes.Dir {
		d, err := archive.New(fsys, list, c, opt).File(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	below := func(root nodes.Dir, name string) nodes.Dir {
		e, err := nodes.Lookup(t.Context(), root, name)
		if err != nil {
			t.Fatal(err)
		}
		return e.Dir
	}
	for name, c := range map[string]struct {
		dir  nodes.Dir
		want []string
	}{
		"archive":              {root, []string{"a.log", "sub/b.log", "sub/in.tar/d/x.log"}},
		"folder":               {below(root, "sub"), []string{"b.log", "in.tar/d/x.log"}},
		"recording":            {below(root, "sub/b.log"), []string{""}},
		"container":            {below(root, "sub/in.tar"), []string{"d/x.log"}},
		"folder in container":  {below(root, "sub/in.tar/d"), []string{"x.log"}},
		"file":                 {file("a.log"), []string{""}},
		"container file":       {file("sub/in.tar"), []string{"d/x.log"}},
		"folder in file":       {below(file("sub/in.tar"), "d"), []string{"x.log"}},
		"recording in file":    {below(file("sub/in.tar"), "d/x.log"), []string{""}},
		"archive another time": {root, []string{"a.log", "sub/b.log", "sub/in.tar/d/x.log"}},
	} {
		var paths []string
		for s, err := range known.Summaries(t.Context(), c.dir) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			paths = append(paths, s.Path)
		}
		if !slices.Equal(paths, c.want) {
			t.Errorf("%s: %q, want %q", name, paths, c.want)
		}
	}
}

// What cannot be read is told, hides nothing else, and is looked at again the next time.
func TestCatalogueTellsUnreadable(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.log", "LOG one")
	write(t, dir, "b/x.log", "LOG two")
	write(t, dir, "c.tar", string(formatstest.Tar(t, entry{"y.log", "LOG three"})))
	write(t, dir, "d.log.gz", "neither compressed nor a recording")
	write(t, dir, "e.log", "LOG four")
	fsys := formatstest.OpenLocal(t, dir)
	known := func(store, refused string) (got []string) {
		var opens, scans atomic.Int64
		root := newRoot(locked{fsys, refused}, []formats.Format{logged(&opens, &scans)}, formatstest.NewCache(t), archive.Options{Disk: cache.NewDisk(store, 1<<20, nil)})
		for s, err := range summariesOf(t, root) {
			if err != nil {
				t.Fatal(err)
			}
			line := s.Path
			if s.Unread() {
				line += ": " + s.Error
			}
			if s.Unread() != (s.Format == "") {
				t.Errorf("%+v", s)
			}
			got = append(got, line)
		}
		return got
	}
	for refused, want := range map[string][]string{
		"b":     {"a.log", "b: permission denied", "c.tar/y.log", "e.log"},
		"c.tar": {"a.log", "b/x.log", "c.tar: permission denied", "e.log"},
		"e.log": {"a.log", "b/x.log", "c.tar/y.log", "e.log: permission denied"},
	} {
		store := t.TempDir()
		if got := known(store, refused); !slices.Equal(got, want) {
			t.Errorf("%q refused: %q, want %q", refused, got, want)
		}
		if got, all := known(store, ""), []string{"a.log", "b/x.log", "c.tar/y.log", "e.log"}; !slices.Equal(got, all) {
			t.Errorf("after that: %q, want %q", got, all)
		}
	}
}

// A locked is a tree that refuses to open the file or directory of that name.
type locked struct {
	source.Tree
	name string
}

func (l locked) Open(ctx context.Context, name string) (source.File, error) {
	if name == l.name {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrPermission}
	}
	return l.Tree.Open(ctx, name)
}

func (l locked) List(ctx context.Context, name string) (source.Names, error) {
	if name == l.name {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrPermission}
	}
	return l.Tree.List(ctx, name)
}

func TestCatalogueOfUnreadable(t *testing.T) {
	dir, store := t.TempDir(), t.TempDir()
	write(t, dir, "a.log", "LOG one")
	write(t, dir, "b.log", "LOG two")
	var opens, scans atomic.Int64
	format := logged(&opens, &scans)
	format.MatchNamed = nil
	for _, refused := range []string{"b.log", ""} {
		fsys := formatstest.OpenLocal(t, dir)
		root := newRoot(locked{fsys, refused}, []formats.Format{format}, formatstest.NewCache(t), archive.Options{Disk: cache.NewDisk(store, 1<<20, nil)})
		n := 0
		for s, err := range summariesOf(t, root) {
			if err != nil {
				t.Fatal(err)
			}
			if unread := s.Path == refused; (s.Error != "") != unread || (s.Problems != nil) != unread {
				t.Errorf("%s refused: %+v", refused, s)
			}
			n++
		}
		if n != 2 {
			t.Errorf("%d lines, want 2", n)
		}
	}
}

func TestCatalogueOfIndexedNested(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.tar", string(formatstest.Tar(t, entry{"x.log", "LOG one"}, entry{"y.log", "LOG two"})))
	write(t, dir, "sub/a.tar", string(formatstest.Tar(t, entry{"x.log", "LOG one"}, entry{"y.log", "LOG two"})))
	fsys := formatstest.OpenLocal(t, dir)
	disk := cache.NewDisk(t.TempDir(), 1<<20, nil)
	c := cache.New(1<<20, disk)
	defer c.Close()
	var opens, scans atomic.Int64
	root := newRoot(fsys, []formats.Format{logged(&opens, &scans)}, c, archive.Options{Disk: disk})
	known := func() (paths []string) {
		for s, err := range summariesOf(t, root) {
			if err != nil {
				t.Fatal(err)
			}
			if s.Complete != nil {
				paths = append(paths, s.Path)
			}
		}
		return paths
	}
	if paths := known(); paths != nil {
		t.Errorf("known: %q", paths)
	}
	if _, err := read(t, root, "a.tar/y.log/index.json"); err != nil {
		t.Fatal(err)
	}
	if paths := known(); !slices.Equal(paths, []string{"a.tar/y.log"}) {
		t.Errorf("known: %q", paths)
	}
}

func TestCatalogueOfNested(t *testing.T) {
	dir, store := t.TempDir(), t.TempDir()
	inner := formatstest.Tar(t, entry{"d/x.log", "LOG one"}, entry{"y", "no recording"})
	write(t, dir, "a.tar", string(formatstest.Tar(t, entry{"z.log", "LOG two"}, entry{"in.tar", string(inner)})))
	write(t, dir, "b.zip", "broken")
	var opens, scans atomic.Int64
	for _, want := range []int64{2, 0} {
		opens.Store(0)
		fsys := formatstest.OpenLocal(t, dir)
		root := newRoot(fsys, []formats.Format{logged(&opens, &scans)}, formatstest.NewCache(t), archive.Options{Disk: cache.NewDisk(store, 1<<20, nil)})
		var paths []string
		for s, err := range summariesOf(t, root) {
			if err != nil {
				t.Fatal(err)
			}
			paths = append(paths, s.Path)
		}
		if all := []string{"a.tar/in.tar/d/x.log", "a.tar/z.log", "b.zip"}; !slices.Equal(paths, all) || opens.Load() != want {
			t.Errorf("%q, %d opened, want %q, %d", paths, opens.Load(), all, want)
		}
	}
}

// A large compressed container has no list while only what is saved may be asked for. That is no
// damage, and nothing to remember: who looks next gets what it holds.
func TestCatalogueLeavesNestedWhole(t *testing.T) {
	dir := t.TempDir()
	packed := formatstest.Gzip(t, formatstest.Tar(t, entry{"x.rec", string(formatstest.Compressible(3_000_000))}))
	write(t, dir, "a.tar.gz", string(packed))
	write(t, dir, "in.tar", string(formatstest.Tar(t, entry{"b.tar.gz", string(packed)})))
	write(t, dir, "c.rec.gz", string(formatstest.Gzip(t, formatstest.Compressible(3_000_000))))
	c := cache.New(4<<20, nil)
	defer c.Close()
	root := newRoot(formatstest.OpenLocal(t, dir), []formats.Format{rec}, c, archive.Options{Disk: cache.NewDisk(t.TempDir(), 1<<30, nil)})
	for range 2 {
		catalogue, err := read(t, root, Name)
		if err != nil || strings.Contains(catalogue, `"error"`) {
			t.Errorf("%s%v", catalogue, err)
		}
		for _, name := range []string{"a.tar.gz/x.rec", "in.tar/b.tar.gz/x.rec", "c.rec.gz"} {
			if got, err := read(t, root, name+"/body"); err != nil || got != string(formatstest.Compressible(3_000_000)[3:]) {
				t.Errorf("%s after the catalogue: %d bytes, %v", name, len(got), err)
			}
		}
	}
}

// A container that is not read yet is told of, whatever lies beside it and in how many containers
// it is.
func TestUnlisted(t *testing.T) {
	dir := t.TempDir()
	packed := entry{"b.tar.gz", string(formatstest.Gzip(t, formatstest.Tar(t, entry{"y.rec", string(formatstest.Compressible(3_000_000))})))}
	inner := formatstest.Tar(t, packed, entry{"z.rec", "RECz"})
	write(t, dir, "a.tar", string(formatstest.Tar(t, entry{"in.tar", string(inner)}, packed, entry{"x.rec", "RECx"})))
	for name, disk := range map[string]*cache.Disk{"kept": cache.NewDisk(t.TempDir(), 1<<30, nil), "nothing kept": nil} {
		c := cache.New(4<<20, nil)
		defer c.Close()
		root := newRoot(formatstest.OpenLocal(t, dir), []formats.Format{rec}, c, archive.Options{Disk: disk})
		for range 2 {
			var unlisted, listed []string
			for s, err := range summariesOf(t, root) {
				switch {
				case err != nil:
					t.Fatal(err)
				case s.Format == "":
					unlisted = append(unlisted, s.Path)
				default:
					listed = append(listed, s.Path)
				}
			}
			if want := []string{"a.tar/b.tar.gz", "a.tar/in.tar/b.tar.gz"}; !slices.Equal(unlisted, want) {
				t.Errorf("%s: not read are %q, want %q", name, unlisted, want)
			}
			if want := []string{"a.tar/in.tar/z.rec", "a.tar/x.rec"}; !slices.Equal(listed, want) {
				t.Errorf("%s: read are %q, want %q", name, listed, want)
			}
		}
	}
}

func TestCatalogueGivesWay(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, Name, "mine")
	write(t, dir, "sub/x.rec", "RECx")
	root := newRoot(formatstest.OpenLocal(t, dir), []formats.Format{rec}, formatstest.NewCache(t), archive.Options{})
	if got, err := read(t, root, Name); got != "mine" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := read(t, root, "sub/"+Name); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("below the root: %v", err)
	}
}

// What is known of an archive is found again after a directory above it was
// renamed, and not taken for that of another one which lies there then.
func TestMovedArchive(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no inodes")
	}
	parent, store := t.TempDir(), t.TempDir()
	write(t, parent, "old/archive/a.log", "LOG ticks")
	var opens, scans atomic.Int64
	look := func(dir string) string {
		t.Helper()
		disk := cache.NewDisk(store, 1<<20, nil)
		c := cache.New(1<<20, disk)
		defer c.Close()
		root := newRoot(formatstest.OpenLocal(t, dir), []formats.Format{logged(&opens, &scans)}, c, archive.Options{Disk: disk})
		text, err := read(t, root, Name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read(t, root, "a.log/index.json"); err != nil {
			t.Fatal(err)
		}
		return text
	}
	look(filepath.Join(parent, "old/archive"))
	want := look(filepath.Join(parent, "old/archive"))
	if !strings.Contains(want, `"ticks":5`) {
		t.Fatal(want)
	}
	if err := os.Rename(filepath.Join(parent, "old"), filepath.Join(parent, "new")); err != nil {
		t.Fatal(err)
	}
	if got := look(filepath.Join(parent, "new/archive")); got != want {
		t.Errorf("%swant %s", got, want)
	}
	write(t, parent, "old/archive/a.log", "LOG of others")
	if got := look(filepath.Join(parent, "old/archive")); got == want || strings.Contains(got, `"ticks":5`) {
		t.Errorf("another archive has %s", got)
	}
	if got := look(filepath.Join(parent, "new/archive")); !strings.Contains(got, `"size":9`) {
		t.Errorf("the moved archive has %s", got)
	}
}

// What is kept on disk for the catalogue is a claim: whoever can write it can make its checksum,
// too. Where it is not what the archive would have kept, it is made again.
func TestForgedCatalogue(t *testing.T) {
	dir, store := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{"a.log": "LOG ticks", "b.log": "LOG more ticks", "sub/c.log": "LOG"} {
		write(t, dir, name, content)
	}
	disk := cache.NewDisk(store, 1<<20, nil)
	name := "" // of the catalogue on disk
	catalogue := func(indexed ...string) string {
		t.Helper()
		var opens, scans atomic.Int64
		c := cache.New(1<<20, disk)
		defer c.Close()
		root := newRoot(formatstest.OpenLocal(t, dir), []formats.Format{logged(&opens, &scans)}, c, archive.Options{Disk: disk})
		current, err := root.Current(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		view, _ := archive.Of(current)
		name = root.c.savedName(view)
		for _, name := range indexed {
			if _, err := read(t, root, name+"/index.json"); err != nil {
				t.Fatal(err)
			}
		}
		text, err := read(t, root, Name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	known := strings.SplitAfter(catalogue(), "\n")
	want := catalogue("a.log", "b.log")
	known = append(known, strings.SplitAfter(want, "\n")...)
	for _, forged := range []struct{ old, new string }{
		{`"path":"a.log"`, `"path":"x.log"`},
		{`"path":"a.log"`, `"path":"b.log"`},
		{`"path":"b.log"`, `"path":"../.."`},
		{`"format":"logged"`, `"format":"jogged"`},
		{`"size":14`, `"size":-1`},
		{`"problems":2}`, `"problems":-}`},
		{"}\n", "} "},
		{"b.log", "a.log"},
	} {
		if forge(t, disk, name, forged.old, forged.new) == 0 {
			t.Fatalf("%s is nowhere in the catalogue", forged.old)
		}
		got := strings.SplitAfter(catalogue(), "\n")
		if len(got) != strings.Count(want, "\n")+1 || slices.ContainsFunc(got, func(line string) bool { return !slices.Contains(known, line) }) {
			t.Errorf("%s for %s:\n%s", forged.new, forged.old, strings.Join(got, ""))
		}
		if got := catalogue("a.log", "b.log"); got != want {
			t.Errorf("%s for %s, and indexed again:\n%swant\n%s", forged.new, forged.old, got, want)
		}
	}
}

// forge replaces a text in all records of the catalogue on disk, with the checksums that belong to
// it, and tells in how many it was.
func forge(t *testing.T, disk *cache.Disk, name, old, text string) (changed int) {
	t.Helper()
	pages := ledger.NewPages(formatstest.NewCache(t))
	list := ledger.Load(disk, name, nil)
	sink := ledger.NewSink(disk, name)
	w := ledger.NewWriter(sink)
	for i := range list.Blocks() {
		page, err := list.Page(t.Context(), pages, i)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page {
			if strings.Contains(r.Path+r.Line, old) {
				changed++
			}
			r.Path, r.Line = strings.ReplaceAll(r.Path, old, text), strings.ReplaceAll(r.Line, old, text)
			w.Append(r)
		}
	}
	sink.Save(w.List(), true)
	return changed
}

// The directories of a container that have links to each other are walked once.
func TestCatalogueOfLinksBetweenDirectories(t *testing.T) {
	dir := t.TempDir()
	var entries []entry
	for i := range 10 {
		for j := range 10 {
			entries = append(entries, entry{fmt.Sprintf("%d/%d", i, j), fmt.Sprintf("->../%d", j)})
		}
		entries = append(entries, entry{fmt.Sprintf("%d/a.rec", i), "RECone"})
	}
	write(t, dir, "a.tar", string(formatstest.Tar(t, entries...)))
	root := newRoot(formatstest.OpenLocal(t, dir), []formats.Format{rec}, formatstest.NewCache(t), archive.Options{})
	lines, err := read(t, root, Name)
	if got := strings.Count(lines, "\n"); got != 10 || err != nil {
		t.Errorf("%d recordings, %v, want 10", got, err)
	}
}

// The catalogue tells of all recordings, whoever may read each: it is for the owner of the source.
func TestCatalogueRights(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "x.rec", "RECx")
	root := newRoot(formatstest.OpenLocal(t, dir), []formats.Format{rec}, formatstest.NewCache(t), archive.Options{})
	self, err := nodes.Child(t.Context(), root, ".")
	if err != nil {
		t.Fatal(err)
	}
	e, err := nodes.Lookup(t.Context(), root, Name)
	if e = e.Inherit(self.Attr); err != nil || e.Rights.Mode != 0o600 || runtime.GOOS != "windows" && int(e.Rights.UID) != os.Getuid() {
		t.Errorf("%v, %v, want mode 600 of the user", e.Rights, err)
	}
}

// Of what is gone there is no line, of what cannot be read there is one.
func TestGoneIsNotUnreadable(t *testing.T) {
	for err, gone := range map[error]bool{
		syscall.ENOENT: true, syscall.ENOTDIR: true, nodes.ErrStale: true, syscall.EACCES: false, syscall.EIO: false,
	} {
		line := unreadableLine("sub/plain", &iofs.PathError{Op: "open", Path: "sub/plain", Err: err})
		if (line == "") != gone {
			t.Errorf("%v: the catalogue says %q", err, line)
		}
	}
}

// The line of what cannot be read has all keys, too.
func TestUnreadableLine(t *testing.T) {
	const want = `{"path":"a","format":null,"indexed":false,"start":null,"duration_ms":null,"ticks":null,"map":null,"players":null,` +
		`"size":null,"modified":null,"complete":null,"finished":null,"problems":null,"error":"permission denied"}` + "\n"
	got := unreadableLine("a", &iofs.PathError{Op: "open", Path: "a", Err: syscall.EACCES})
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
