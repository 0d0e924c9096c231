package archive

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/source"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// After the handle of a file that was looked up is closed, only the same inode
// gives its bytes, and an inode without a time of birth only in the same state.
func TestReplacedWithSameInode(t *testing.T) {
	old := source.Version{Stamp: formats.Stamp{Modified: 100, Changed: 1000, Born: 900, Inode: 7}, Dev: 1, Links: 1}
	for _, c := range []struct {
		name, content string
		change        func(v *source.Version)
		stale         bool
	}{
		{"unchanged", "RECfirst", func(*source.Version) {}, false},
		{"unchanged, birth unknown", "RECfirst", func(v *source.Version) { v.Born = 0 }, false},
		{"grown", "RECfirst and more", func(v *source.Version) { v.Modified, v.Changed = 101, 1001 }, false},
		{"grown, birth unknown", "RECfirst and more", func(v *source.Version) { v.Modified, v.Changed, v.Born = 101, 1001, 0 }, true},
		{"grown, inode unknown", "RECfirst and more", func(v *source.Version) { v.Modified, v.Changed, v.Born, v.Inode = 101, 0, 0, 0 }, true},
		{"linked", "RECfirst", func(v *source.Version) { v.Changed, v.Links = 1001, 2 }, false},
		{"replaced by a longer one", "RECother and more", func(v *source.Version) { v.Modified, v.Changed, v.Born = 101, 1001, 1001 }, true},
		{"replaced, time set back", "RECother", func(v *source.Version) { v.Changed, v.Born = 1001, 1001 }, true},
		{"replaced, birth unknown", "RECother", func(v *source.Version) { v.Changed, v.Born = 1001, 0 }, true},
		{"on another device", "RECfirst", func(v *source.Version) { v.Dev = 2 }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after := old, old
			c.change(&after)
			if after.Born == 0 {
				before.Born = 0
			}
			if after.Inode == 0 {
				before.Inode, before.Changed = 0, 0
			}
			fsys := newMemTree()
			fsys.write("plain", "RECfirst", before)
			fsys.write("a.rec", "RECfirst", before)
			root := New(fsys, testFormats, formatstest.NewCache(t), Options{})
			plain, err := nodes.Lookup(t.Context(), root, "plain")
			if err != nil {
				t.Fatal(err)
			}
			recording, err := nodes.Lookup(t.Context(), root, "a.rec/body")
			if err != nil {
				t.Fatal(err)
			}
			root.(rootDir).Target.a.openFiles.Close()
			fsys.write("plain", c.content, after)
			fsys.write("a.rec", c.content, after)
			for want, file := range map[string]nodes.File{"RECfirst": plain.File, "first": recording.File} {
				got, err := nodes.ReadAll(t.Context(), file)
				if c.stale && !errors.Is(err, nodes.ErrStale) || !c.stale && (err != nil || string(got) != want) {
					t.Errorf("%q, %v", got, err)
				}
			}
			if got, err := read(t, root, "a.rec/body"); got != c.content[3:] || err != nil {
				t.Errorf("by its name: %q, %v", got, err)
			}
		})
	}
}

// replaceReusing removes the file name and makes others until one has its
// inode number again, which gets the name.
func replaceReusing(t *testing.T, name, content string) {
	t.Helper()
	inode := func(name string) uint64 {
		info, err := formatstest.OpenLocal(t, filepath.Dir(name)).Stat(t.Context(), filepath.Base(name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Inode
	}
	want := inode(name)
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	var made []string
	defer func() {
		for _, m := range made {
			os.Remove(m)
		}
	}()
	for range 1000 {
		f, err := os.CreateTemp(filepath.Dir(name), "new")
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(content)
		f.Close()
		if inode(f.Name()) == want {
			if err := os.Rename(f.Name(), name); err != nil {
				t.Fatal(err)
			}
			return
		}
		made = append(made, f.Name())
	}
	t.Skip("this file system does not use the number again")
}

func TestInodeReused(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("numbers are used again at once on some file systems of Linux")
	}
	dir, root := mount(t, map[string]string{"plain": "RECfirst", "a.rec": "RECfirst"}, Options{})
	var files []nodes.File
	for _, name := range []string{"plain", "a.rec/body"} {
		e, err := nodes.Lookup(t.Context(), root, name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, e.File)
	}
	root.(rootDir).Target.a.openFiles.Close()
	replaceReusing(t, filepath.Join(dir, "plain"), "RECother, and longer")
	replaceReusing(t, filepath.Join(dir, "a.rec"), "RECother, and longer")
	for _, f := range files {
		if got, err := nodes.ReadAll(t.Context(), f); !errors.Is(err, nodes.ErrStale) {
			t.Errorf("the old view: %q, %v", got, err)
		}
	}
	if got, err := read(t, root, "a.rec/body"); got != "other, and longer" || err != nil {
		t.Errorf("the new view: %q, %v", got, err)
	}
}

// A counting is a directory whose bytes are counted as they are read.
type counting struct {
	source.Tree
	read *int64
}

type countingOpen struct {
	source.File
	read *int64
}

func (c counting) Open(ctx context.Context, name string) (source.File, error) {
	f, err := c.Tree.Open(ctx, name)
	return countingOpen{f, c.read}, err
}

func (c countingOpen) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := c.File.ReadAt(ctx, p, off)
	atomic.AddInt64(c.read, int64(n))
	return n, err
}

// A copy of a large compressed file, and that of one in a container, outlive
// changes of mode, links and copies: the file is read once to compare it, and
// the next time not even that.
func TestCopyOutlivesChanges(t *testing.T) {
	nodestest.Long(t)
	if runtime.GOOS != "linux" {
		t.Skip("no change times")
	}
	content := make([]byte, nodestest.Times(6, 3)<<20)
	rand.NewChaCha8([32]byte{}).Read(content)
	copy(content, "REC")
	packed := packZstd(t, content)
	disk := cache.NewDisk(t.TempDir(), 1<<30, nil)
	dir := t.TempDir()
	for _, name := range []string{"a.rec.zst", "b.tar"} {
		b := packed
		if name == "b.tar" {
			b = formatstest.Tar(t, entry{"c.rec.zst", string(packed)})
		}
		write(t, dir, name, string(b))
	}
	for i, step := range []struct {
		change func(file string) error
		read   bool
	}{
		{nil, true},
		{func(string) error { return nil }, false},
		{func(file string) error { return os.Chmod(file, 0o400) }, true},
		{func(string) error { return nil }, false},
		{func(file string) error { return os.Link(file, file+".link") }, true},
		{func(file string) error {
			b, err := os.ReadFile(file)
			return errors.Join(err, os.Remove(file), os.WriteFile(file, b, 0o600))
		}, true},
		{func(string) error { return nil }, false},
	} {
		for _, name := range []string{"a.rec.zst", "b.tar/c.rec.zst"} {
			file := filepath.Join(dir, strings.TrimSuffix(name, "/c.rec.zst"))
			if step.change != nil {
				if err := step.change(file); err != nil {
					t.Fatal(err)
				}
			}
			var bytesRead int64
			c := cache.New(64<<20, disk)
			root := New(counting{formatstest.OpenLocal(t, dir), &bytesRead}, testFormats, c, Options{Disk: disk})
			got, err := read(t, root, name+"/body")
			if err != nil || got != string(content[3:]) {
				t.Errorf("step %d, %s: %d bytes, %v", i, name, len(got), err)
			}
			c.Close()
			if all := bytesRead >= int64(len(packed)); all != step.read || bytesRead > int64(len(packed))+1<<20 {
				t.Errorf("step %d, %s: %d bytes of %d were read", i, name, bytesRead, len(packed))
			}
		}
	}
}

// Look-ups of one version of a recording in segments are equal, whatever was collected meanwhile,
// and those of two versions are not.
func TestSegmentsAreCompared(t *testing.T) {
	dir, root := mount(t, map[string]string{"seg/first.part": "1", "seg/second.part": "2"}, Options{})
	look := func() nodes.Dir {
		e, err := nodes.Child(t.Context(), root, "seg")
		if err != nil {
			t.Fatal(err)
		}
		return e.Dir
	}
	first := look()
	runtime.GC()
	if again := look(); again != first {
		t.Error("one version gives two values")
	}
	write(t, dir, "seg/second.part", "longer")
	if other := look(); other == first {
		t.Error("two versions give one value")
	}
	if got, err := read(t, first, "body"); err == nil && got != "1" {
		t.Errorf("the old version has %q", got)
	}
}
