package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"recfs/cache"
	archives "recfs/formats/archive"
	"recfs/formats/catalogue"
	"recfs/formats/source"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

const samples = "../../testdata/archive"

// openArchive returns what a mount of tree shows, with the formats as the flags choose them by
// default.
func openArchive(tb testing.TB, tree source.Tree, budget int64) nodes.Dir {
	tb.Helper()
	_, root := openCached(tb, tree, budget)
	return root
}

// openCached is openArchive with the cache.
func openCached(tb testing.TB, tree source.Tree, budget int64) (*cache.Cache, nodes.Dir) {
	tb.Helper()
	var opt formatOptions
	list, err := opt.list()
	if err != nil {
		tb.Fatal(err)
	}
	c := cache.New(budget, nil)
	tb.Cleanup(c.Close)
	var options archives.Options
	known := catalogue.New(c, options)
	return c, known.Root(archives.New(tree, list, c, options))
}

// readFile reads a file as a mount would and holds it to its size.
func readFile(ctx context.Context, f nodes.File, limit int64) ([]byte, error) {
	size, err := f.Size(ctx)
	if err != nil {
		return nil, err
	}
	c, err := f.Open(ctx)
	if err != nil {
		return nil, err
	}
	if closer, ok := c.(io.Closer); ok {
		defer closer.Close()
	}
	if c.Size() != size {
		return nil, fmt.Errorf("%w: Size is %d, the content has %d bytes", errPromise, size, c.Size())
	}
	b := make([]byte, min(size, limit))
	if n, err := c.ReadAt(ctx, b, 0); n < len(b) {
		if err == nil || err == io.EOF {
			return nil, fmt.Errorf("%w: %d of %d bytes and %v", errPromise, n, len(b), err)
		}
		return nil, err
	}
	return b, nil
}

var (
	errPromise = errors.New("a file breaks its promise")
	errEnough  = errors.New("enough")
)

// walkAll reads everything that an archive shows, up to some bounds, and fails the test if a file
// is not what its size says or if the walk does not end. Errors of damaged files are fine.
func walkAll(t *testing.T, root nodes.Dir) {
	t.Helper()
	const entries, perFile, total = 4000, 1 << 20, 32 << 20
	ctx, cancel := context.WithTimeout(t.Context(), nodestest.Hang)
	defer cancel()
	n, left := 0, total
	err := nodes.Walk(ctx, root, func(name string, e nodes.Entry, err error) error {
		if n++; n > entries || left < 0 {
			return errEnough
		}
		if e.File == nil || err != nil {
			return nil
		}
		b, err := readFile(ctx, e.File, perFile)
		left -= len(b)
		if errors.Is(err, errPromise) {
			t.Errorf("%s: %v", name, err)
		}
		return nil
	})
	if err != nil && err != errEnough {
		t.Errorf("the walk ended with %v", err)
	}
}

var outer = []string{"", ".gz", ".xz", ".zst", ".bz2"}

// extensions are the names under which fuzzed bytes are shown.
func extensions(tb testing.TB) (all []string) {
	var opt formatOptions
	list, err := opt.list()
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range list {
		for _, ext := range f.Extensions {
			for _, o := range outer {
				all = append(all, ext+o)
			}
		}
	}
	return all
}

// FuzzArchive shows bytes under each extension and reads the whole tree.
func FuzzArchive(f *testing.F) {
	nodestest.Long(f)
	all := extensions(f)
	err := filepath.WalkDir("../../testdata", func(name string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		for i, ext := range all {
			if !strings.HasSuffix(name, ext) {
				continue
			}
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if len(b) <= 64<<10 {
				f.Add(byte(i), b)
			}
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, kind byte, b []byte) {
		name := "x" + all[int(kind)%len(all)]
		walkAll(t, openArchive(t, treeOf(t, map[string][]byte{name: b}), 16<<20))
	})
}

// treeOf returns a directory with those files.
func treeOf(t testing.TB, files map[string][]byte) source.Tree {
	dir := t.TempDir()
	for name, b := range files {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	local, err := source.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	return local
}

// FuzzSegments shows bytes as the files of a recording in segments.
func FuzzSegments(f *testing.F) {
	for _, dir := range []string{"run-live", "run-finished"} {
		var parts [3][]byte
		for i, name := range []string{"preamble.dat", "segment-000.dat", "segment-001.dat"} {
			b, err := os.ReadFile(path.Join(samples, "hcrp", dir, name))
			if err != nil {
				f.Fatal(err)
			}
			parts[i] = b
		}
		f.Add(parts[0], parts[1], parts[2])
	}
	f.Fuzz(func(t *testing.T, preamble, first, second []byte) {
		walkAll(t, openArchive(t, treeOf(t, map[string][]byte{
			"r/preamble.dat":    preamble,
			"r/segment-000.dat": first,
			"r/segment-001.dat": second,
		}), 16<<20))
	})
}

// A faultyTree is a source that fails at random while faults is set: reads give an error, come
// late, or come short with an error.
type faultyTree struct {
	source.Tree
	faults atomic.Bool
	failed atomic.Int64
}

func (f *faultyTree) Open(ctx context.Context, name string) (source.File, error) {
	if f.fault(50) {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: syscall.EIO}
	}
	file, err := f.Tree.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return &faultyFile{file, f}, nil
}

// fault decides whether something fails: once in n times.
func (f *faultyTree) fault(n int) bool {
	if !f.faults.Load() || rand.IntN(n) > 0 {
		return false
	}
	f.failed.Add(1)
	return true
}

type faultyFile struct {
	source.File
	tree *faultyTree
}

func (f *faultyFile) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if f.tree.fault(20) {
		time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
	}
	if f.tree.fault(10) {
		return 0, syscall.EIO
	}
	if f.tree.fault(20) {
		n, _ := f.File.ReadAt(ctx, p[:rand.IntN(len(p)+1)], off)
		return n, syscall.EIO
	}
	return f.File.ReadAt(ctx, p, off)
}

// A besideTree is a source in which one file fails to open while failing is set.
type besideTree struct {
	source.Tree
	name    string
	failing bool
}

func (b *besideTree) Open(ctx context.Context, name string) (source.File, error) {
	if b.failing && name == b.name {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: syscall.EIO}
	}
	return b.Tree.Open(ctx, name)
}

// A recording beside which a file could not be read this time opens as soon as it can be read.
func TestUnreadBeside(t *testing.T) {
	local, err := source.OpenLocal(filepath.Join(samples, "hcrp"))
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	tree := &besideTree{Tree: local, name: "design-snapshot.schema.json", failing: true}
	root := openArchive(t, tree, 16<<20)
	const name = "design-snapshot.hcrp/header.json"
	if _, err := nodes.Lookup(t.Context(), root, name); !errors.Is(err, syscall.EIO) {
		t.Errorf("%v while it fails", err)
	}
	tree.failing = false
	if _, err := nodes.Lookup(t.Context(), root, name); err != nil {
		t.Errorf("%v afterwards", err)
	}
}

// TestBombBehindRecording shows a log before a bomb with all that it holds and the damage behind
// it, before that was met and after.
func TestBombBehindRecording(t *testing.T) {
	nodestest.Long(t)
	log, err := os.ReadFile(path.Join(samples, "nethack/small.nhgame"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	writeNew(t, path.Join(dir, "bomb.nhgame.zst"), z.EncodeAll(append(bytes.Clone(log), make([]byte, 100<<20)...), nil))
	writeNew(t, path.Join(dir, "whole.nhgame"), log)
	local, err := source.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	names := func(root nodes.Dir, in string) (all []string) {
		t.Helper()
		e, err := nodes.Lookup(t.Context(), root, in)
		if err == nil {
			err = nodes.Walk(t.Context(), e.Dir, func(name string, _ nodes.Entry, err error) error {
				all = append(all, name)
				return err
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	root := openArchive(t, local, 32<<20)
	e, err := nodes.Lookup(t.Context(), root, "bomb.nhgame.zst/index.json")
	if err != nil {
		t.Fatal(err)
	}
	early := names(root, "bomb.nhgame.zst")
	text, err := nodes.ReadAll(t.Context(), e.File)
	if err != nil || !bytes.Contains(text, []byte("refused as a decompression bomb")) || !bytes.Contains(text, []byte(`"complete": false`)) {
		t.Errorf("%s, %v", text, err)
	}
	want := names(root, "whole.nhgame")
	for what, got := range map[string][]string{
		"early": early, "late": names(root, "bomb.nhgame.zst"), "anew": names(openArchive(t, local, 32<<20), "bomb.nhgame.zst"),
	} {
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d names, want %d", what, len(got), len(want))
		}
	}
}

// TestFailingSource reads the samples with 64 readers while the source fails at random: every read
// gives an error or the right bytes, and once the source has recovered everything reads right.
func TestFailingSource(t *testing.T) {
	nodestest.Long(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(samples)); err != nil {
		t.Fatal(err)
	}
	// With so small a cache and none on disk, the large compressed sample is decompressed for every
	// read of it; package formats has faults of compressed sources.
	if err := os.Remove(path.Join(dir, "teehistorian/busy-20.1.teehistorian.xz")); err != nil {
		t.Fatal(err)
	}
	local, err := source.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	want := map[string][]byte{}
	seen := 0
	err = nodes.Walk(t.Context(), openArchive(t, local, 64<<20), func(name string, e nodes.Entry, err error) error {
		if e.File == nil || err != nil {
			return nil
		}
		if seen++; strings.Contains(name, "/ticks/") && seen%10 > 0 {
			return nil // most files are ticks
		}
		if b, err := readFile(t.Context(), e.File, 1<<40); err == nil {
			want[name] = b
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(want) < 100 {
		t.Fatalf("only %d files in the samples", len(want))
	}
	names := slices.Sorted(maps.Keys(want))

	faulty := &faultyTree{Tree: local}
	root := openArchive(t, faulty, 1<<20) // small, so that things are decoded again
	faulty.faults.Store(true)
	var wg sync.WaitGroup
	var right, failed atomic.Int64
	for range 64 {
		wg.Go(func() {
			for range nodestest.Times(40, 10) {
				name := names[rand.IntN(len(names))]
				e, err := nodes.Lookup(t.Context(), root, name)
				if err == nil {
					var b []byte
					if b, err = readFile(t.Context(), e.File, 1<<40); err == nil && !bytes.Equal(b, want[name]) {
						t.Errorf("%s: wrong bytes while the source fails", name)
					}
				}
				if errors.Is(err, errPromise) {
					t.Errorf("%s: %v", name, err)
				}
				if err == nil {
					right.Add(1)
				} else {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	faulty.faults.Store(false)
	t.Logf("%d reads right, %d failed; %d faults of the source", right.Load(), failed.Load(), faulty.failed.Load())
	if right.Load() == 0 || failed.Load() == 0 {
		t.Error("the test means nothing unless some reads fail and some do not")
	}
	for i := 0; i < len(names); i += max(1, len(names)/nodestest.Times(500, 50)) { // with so small a cache each of them is decoded again
		name := names[i]
		e, err := nodes.Lookup(t.Context(), root, name)
		if err != nil {
			t.Errorf("%s: %v, although the source has recovered", name, err)
			continue
		}
		b, err := readFile(t.Context(), e.File, 1<<40)
		if err != nil || !bytes.Equal(b, want[name]) {
			t.Errorf("%s: wrong, although the source has recovered: %v", name, err)
		}
	}
}
