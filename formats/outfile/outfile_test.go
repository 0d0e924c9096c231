//go:build unix

package outfile

import (
	"errors"
	iofs "io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// put makes a file that has a text.
func put(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.WriteFile(name, []byte(text), 0o666))
}

// wantText holds what a file has, "" if there is none.
func wantText(t *testing.T, name, want string) {
	t.Helper()
	if b, err := os.ReadFile(name); string(b) != want || (err != nil) != (want == "") {
		t.Errorf("%s has %q, %v, want %q", name, b, err, want)
	}
}

// wantNames holds what a directory has.
func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("%s has %q, want %q", dir, names, want)
	}
}

// write begins a file and writes to it.
func write(t *testing.T, name, text string) *File {
	t.Helper()
	f, err := Create(name, 0o640)
	must(t, err)
	t.Cleanup(f.Discard)
	_, err = f.Write([]byte(text))
	must(t, err)
	return f
}

// TestReplace holds that the old file, and its hard links, are as they were until the new one is
// whole, and after.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	name, snapshot := filepath.Join(dir, "file"), filepath.Join(dir, "snapshot")
	put(t, name, "old")
	must(t, os.Chmod(name, 0o604))
	must(t, os.Link(name, snapshot))
	write(t, name, "half").Discard()
	f := write(t, name, "new")
	wantText(t, name, "old")
	f.Modified = time.Unix(1e9, 0)
	must(t, f.Commit())
	f.Discard()
	wantText(t, name, "new")
	wantText(t, snapshot, "old")
	if info, err := os.Stat(name); err != nil || info.Mode() != 0o604 || !info.ModTime().Equal(f.Modified) {
		t.Errorf("%v, %v", info, err)
	}
	wantNames(t, dir, "file", "snapshot")
}

// TestModes gives files modes which their owner could not open them with.
func TestModes(t *testing.T) {
	dir := t.TempDir()
	for _, mode := range []iofs.FileMode{0, 0o400, 0o200, 0o500, 0o755} {
		name := filepath.Join(dir, mode.String())
		f, err := Create(name, mode)
		must(t, err)
		must(t, f.Commit())
		f.Discard()
		if info, err := os.Stat(name); err != nil || info.Mode() != mode {
			t.Errorf("%v, want %v, %v", info.Mode(), mode, err)
		}
	}
}

// TestExclusive replaces nothing.
func TestExclusive(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	for i, want := range []error{nil, iofs.ErrExist} {
		f, err := Create(name, 0o666)
		must(t, err)
		f.Exclusive, f.Durable = true, true
		if err := f.Commit(); !errors.Is(err, want) {
			t.Errorf("time %d: %v", i, err)
		}
		f.Discard()
		wantNames(t, dir, "file")
	}
}

// TestPlaces replaces links themselves and refuses, at once, what is no file.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	put(t, at("file"), "old")
	must(t, os.Symlink("file", at("link")))
	must(t, os.Symlink("nowhere", at("dangling")))
	must(t, os.Mkdir(at("dir"), 0o777))
	must(t, syscall.Mkfifo(at("fifo"), 0o666))
	socket, err := net.Listen("unix", at("socket"))
	must(t, err)
	defer socket.Close()
	for _, name := range []string{"link", "dangling", "new"} {
		f := write(t, at(name), "new")
		must(t, f.Commit())
		wantText(t, at(name), "new")
		if info, err := os.Lstat(at(name)); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	wantText(t, at("file"), "old")
	for _, name := range []string{"dir", "fifo", "socket", "fifo/file", "no/file", os.DevNull} {
		if !filepath.IsAbs(name) {
			name = at(name)
		}
		f, err := Create(name, 0o666)
		if err == nil {
			f.Discard()
		}
		wantPath(t, err, name)
	}
	root, err := OpenDir(dir)
	must(t, err)
	defer root.Close()
	for _, name := range []string{"dir", "fifo", "socket"} {
		if f, err := OpenRegular(root, name); err == nil {
			f.Close()
			t.Errorf("%s was opened", name)
		}
	}
	wantNames(t, dir, "dangling", "dir", "fifo", "file", "link", "new", "socket")
}

// TestErrorsNameTheFile looks at what errors say of a file that has a temporary name: who made it
// never heard of that.
func TestErrorsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	f := write(t, name, "x")
	must(t, os.MkdirAll(filepath.Join(name, "taken"), 0o777))
	wantPath(t, f.Commit(), name)
	f.Discard()
	_, err := f.WriteAt([]byte("late"), 0)
	wantPath(t, err, name)
	wantNames(t, dir, "x")
	must(t, write(t, filepath.Join(dir, strings.Repeat("n", 255)), "long").Commit())
	long := filepath.Join(dir, strings.Repeat("n", 256))
	_, err = Create(long, 0o666)
	wantPath(t, err, long)
}

func wantPath(t *testing.T, err error, name string) {
	t.Helper()
	if e, ok := errors.AsType[*iofs.PathError](err); !ok || e.Path != name {
		t.Errorf("%v, want an error of %s", err, name)
	}
}

// TestAbandoned removes temporary files that no process holds.
func TestAbandoned(t *testing.T) {
	dir := t.TempDir()
	held := write(t, filepath.Join(dir, "file"), "half")
	dead := temporaryName()
	put(t, filepath.Join(dir, dead), "half")
	must(t, os.Symlink("file", filepath.Join(dir, temporaryName())))
	must(t, os.Mkdir(filepath.Join(dir, ".recfs-"+strings.Repeat("A", 26)+".tmp"), 0o777))
	others := []string{".recfs-" + strings.Repeat("A", 26) + ".tmp", ".recfs-short.tmp", dead[1:], "x" + dead, dead + "x"}
	for _, name := range others[1:] {
		put(t, filepath.Join(dir, name), "mine")
	}
	root, err := OpenDir(dir)
	must(t, err)
	defer root.Close()
	RemoveAbandoned(root)
	if _, err := root.Lstat(dead); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("abandoned: %v", err)
	}
	for _, name := range others {
		if _, err := root.Lstat(name); err != nil {
			t.Error(err)
		}
	}
	must(t, held.Commit())
	wantText(t, filepath.Join(dir, "file"), "half")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != len(others)+1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestSymlink replaces a link, and no file.
func TestSymlink(t *testing.T) {
	dir := t.TempDir()
	root, err := OpenDir(dir)
	must(t, err)
	defer root.Close()
	for _, target := range []string{"a", "a", "b"} {
		must(t, Symlink(root, target, "link"))
		if got, err := root.Readlink("link"); err != nil || got != target {
			t.Errorf("%s: %q, %v", target, got, err)
		}
	}
	put(t, filepath.Join(dir, "file"), "old")
	wantPath(t, Symlink(root, "a", "file"), filepath.Join(dir, "file"))
	wantText(t, filepath.Join(dir, "file"), "old")
	wantNames(t, dir, "file", "link")
}

// TestAtOnce writes files and links while another process, as it were, looks for abandoned ones.
func TestAtOnce(t *testing.T) {
	dir := t.TempDir()
	root, err := OpenDir(dir)
	must(t, err)
	defer root.Close()
	var writers, remover sync.WaitGroup
	var done atomic.Bool
	remover.Go(func() {
		for !done.Load() {
			RemoveAbandoned(root)
		}
	})
	for i := range 4 {
		writers.Go(func() {
			for n := range 300 {
				f, err := CreateIn(root, strconv.Itoa(i), 0o666)
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(f.Commit(), Symlink(root, strconv.Itoa(n), "link"+strconv.Itoa(i))); err != nil {
					t.Error(err)
				}
				f.Discard()
			}
		})
	}
	writers.Wait()
	done.Store(true)
	remover.Wait()
	wantNames(t, dir, "0", "1", "2", "3", "link0", "link1", "link2", "link3")
}
