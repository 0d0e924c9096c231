package catalogue

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/source"
	"recfs/nodes"
)

// A countedFS is a MapFS, in which a change of a directory shows in its time,
// that counts what is asked of it.
type countedFS struct {
	fstest.MapFS
	asked atomic.Int64
}

func (c *countedFS) Open(name string) (iofs.File, error) {
	c.asked.Add(1)
	f, err := c.MapFS.Open(name)
	if r, ok := f.(io.ReaderAt); ok {
		return timedFile{f, r}, err
	}
	return f, err
}

func (c *countedFS) Lstat(name string) (iofs.FileInfo, error) {
	c.asked.Add(1)
	info, err := c.MapFS.Lstat(name)
	return timedInfo{info}, err
}

type timedFile struct {
	iofs.File
	io.ReaderAt
}

func (f timedFile) Stat() (iofs.FileInfo, error) {
	info, err := f.File.Stat()
	return timedInfo{info}, err
}

// A timedInfo has a change time, which is the modification time.
type timedInfo struct{ iofs.FileInfo }

func (i timedInfo) Version() source.Version {
	m := i.ModTime()
	return source.Version{Stamp: formats.Stamp{
		Size: i.Size(), Modified: m.Unix(), Nanos: int64(m.Nanosecond()), Changed: m.UnixNano(),
	}}
}

func (c *countedFS) put(name, content string, modified time.Time) {
	if c.MapFS[name] == nil {
		c.MapFS[path.Dir(name)] = &fstest.MapFile{Mode: iofs.ModeDir | 0o755, ModTime: modified}
	}
	c.MapFS[name] = &fstest.MapFile{Data: []byte(content), ModTime: modified}
}

// largeArchive has more recordings than are looked at each time, at rest but
// for one, and returns what looks at recordings.jsonl and tells its size.
func largeArchive(t *testing.T) (fsys *countedFS, opens *atomic.Int64, look func() int64) {
	fsys, opens = &countedFS{MapFS: fstest.MapFS{}}, new(atomic.Int64)
	fsys.MapFS["."] = &fstest.MapFile{Mode: iofs.ModeDir | 0o755, ModTime: time.Now().Add(-2 * time.Hour)}
	for i := range manyRecords {
		fsys.put(fmt.Sprintf("d%d/%04d.log", i%4, i), "LOG x", time.Now().Add(-time.Hour))
	}
	fsys.put("d0/growing.log", "LOG x", time.Now().Add(-10*time.Second))
	var scans atomic.Int64
	format := logged(opens, &scans)
	format.MatchNamed = nil
	c := cache.New(64<<20, nil)
	t.Cleanup(c.Close)
	root := newRoot(formatstest.FromFS(fsys), []formats.Format{format}, c, archive.Options{})
	return fsys, opens, func() int64 {
		t.Helper()
		e, err := nodes.Lookup(t.Context(), root, Name)
		if err != nil {
			t.Fatal(err)
		}
		n, err := e.File.Size(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// Looking at the catalogue of a large archive again does not ask for each file,
// and shows all the same what has changed.
func TestCatalogueAgain(t *testing.T) {
	// The channels of decoders in pools are those of the bubble.
	defer func() { runtime.GC(); runtime.GC() }()
	synctest.Test(t, func(t *testing.T) {
		fsys, opens, look := largeArchive(t)
		size := look()
		if n := opens.Load(); n != manyRecords+1 {
			t.Errorf("%d opened first", n)
		}
		opens.Store(0)
		fsys.asked.Store(0)
		for range 100 {
			if n := look(); n != size {
				t.Fatalf("%d bytes, %d before", n, size)
			}
		}
		if n := fsys.asked.Load(); n > 100*10 || opens.Load() > 0 {
			t.Errorf("100 looks at nothing new asked for %d files and opened %d", n, opens.Load())
		}

		grown := func(what string, opened int64) {
			t.Helper()
			if n := look(); n <= size || opens.Load() != opened {
				t.Errorf("%s: %d bytes, %d before, and %d opened", what, n, size, opens.Load())
			} else {
				size = n
			}
			opens.Store(0)
		}
		fsys.put("d0/growing.log", "LOG x, and much more", time.Now().Add(-9*time.Second))
		grown("a recording that grows", 1)
		fsys.put("d1/new.log", "LOG x", time.Now().Add(-5*time.Second))
		grown("a new one", 1)
		fsys.put("d2/0002.log", "LOG x, and much more", time.Now().Add(-5*time.Second))
		time.Sleep(restCheck + 1)
		grown("one that was at rest", 1)
	})
}

// In a small archive a look at nothing new asks once for every file and opens
// none; each change shows at the next.
func TestCatalogueAgainSmall(t *testing.T) {
	fsys := &countedFS{MapFS: fstest.MapFS{}}
	old := time.Now().Add(-time.Hour)
	fsys.put("a.log", "LOG x", old)
	fsys.put("d/b.log", "LOG x", old)
	var opens, scans atomic.Int64
	format := logged(&opens, &scans)
	format.MatchNamed = nil
	root := newRoot(formatstest.FromFS(fsys), []formats.Format{format}, formatstest.NewCache(t), archive.Options{})
	first, err := read(t, root, Name)
	if err != nil || opens.Load() != 2 {
		t.Fatalf("%d opened: %v", opens.Load(), err)
	}
	opens.Store(0)
	if again, err := read(t, root, Name); again != first || err != nil || opens.Load() > 0 {
		t.Errorf("%s, %v; %d opened", again, err, opens.Load())
	}
	fsys.put("d/b.log", "LOG xy", old) // its time was set back
	changed, err := read(t, root, Name)
	if err != nil || changed == first || opens.Load() != 1 {
		t.Errorf("%s, %v; %d opened", changed, err, opens.Load())
	}
}

// The lines of the catalogue are part of the budget. What was put out of it is
// made again, as long as it is the same.
func TestCatalogueInBudget(t *testing.T) {
	fsys := &countedFS{MapFS: fstest.MapFS{}}
	old := time.Now().Add(-time.Hour)
	for i := range 1000 {
		fsys.put(fmt.Sprintf("%04d.log", i), "LOG x", old)
	}
	var opens, scans atomic.Int64
	format := logged(&opens, &scans)
	format.MatchNamed = nil
	for _, budget := range []int64{8 << 20, 1 << 10} {
		c := cache.New(budget, nil)
		defer c.Close()
		root := newRoot(formatstest.FromFS(fsys), []formats.Format{format}, c, archive.Options{})
		e, err := nodes.Lookup(t.Context(), root, Name)
		if err != nil {
			t.Fatal(err)
		}
		size, _ := e.File.Size(t.Context())
		content, err := nodes.ReadAll(t.Context(), e.File)
		if err != nil || int64(len(content)) != size || strings.Count(string(content), "\n") != 1000 {
			t.Errorf("budget %d: %d bytes of %d, %v", budget, len(content), size, err)
		}
		if held := c.Stats().Bytes; budget > size && held < size {
			t.Errorf("%d bytes were read, of which the budget knows %d", size, held)
		}
		if again, err := nodes.Lookup(t.Context(), root, Name); err != nil || again.File != e.File {
			t.Errorf("budget %d: the same catalogue is another file, %v", budget, err)
		}
		opened, err := e.File.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		fsys.put("0500.log", "LOG x"+fmt.Sprint(budget), old)
		if e, err := nodes.Lookup(t.Context(), root, Name); err != nil {
			t.Error(err)
		} else if b, err := nodes.ReadAll(t.Context(), e.File); err != nil || string(b) == string(content) {
			t.Errorf("budget %d: a change does not show, %v", budget, err)
		}
		b := make([]byte, size)
		if _, err := opened.ReadAt(t.Context(), b, 0); string(b) != string(content) {
			t.Errorf("budget %d: what was open has changed, %v", budget, err)
		}
		if b, err := nodes.ReadAll(t.Context(), e.File); string(b) != string(content) {
			t.Errorf("budget %d: what was looked up has changed, %v", budget, err)
		}
	}
}

// A look that was interrupted, wherever it was, loses nothing of what is kept on disk.
func TestCatalogueInterrupted(t *testing.T) {
	dir, disk := t.TempDir(), cache.NewDisk(t.TempDir(), 1<<20, nil)
	for i := range 10 {
		write(t, dir, fmt.Sprintf("d%d/a.log", i), "LOG x")
	}
	var opens, scans atomic.Int64
	look := func(t *testing.T, ctx context.Context) error {
		root := newRoot(formatstest.OpenLocal(t, dir), []formats.Format{logged(&opens, &scans)}, formatstest.NewCache(t), archive.Options{Disk: disk})
		_, err := nodes.Lookup(ctx, root, Name)
		return err
	}
	if err := look(t, t.Context()); err != nil {
		t.Fatal(err)
	}
	interrupted := int64(0)
	for ended := false; !ended && !t.Failed(); interrupted++ {
		t.Run(fmt.Sprint(interrupted), func(t *testing.T) {
			write(t, dir, "a.log", fmt.Sprintf("LOG %d", interrupted)) // one that is not known, before the others
			err := look(t, &endingContext{Context: t.Context(), after: interrupted})
			if ended = err == nil; !ended && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			opens.Store(0)
			if err := look(t, t.Context()); err != nil || opens.Load() > 1 {
				t.Errorf("%d opened, %v", opens.Load(), err)
			}
		})
	}
	if interrupted < 20 {
		t.Errorf("interrupted %d times only", interrupted)
	}
}

// An endingContext ends after it was asked a few times.
type endingContext struct {
	context.Context
	asked atomic.Int64
	after int64
}

func (c *endingContext) Err() error {
	if c.asked.Add(1) > c.after {
		return context.Canceled
	}
	return nil
}
