//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// export writes a tree to plain files.
func export(t *testing.T, root nodes.Dir) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "export")
	err := nodes.Walk(t.Context(), root, func(name string, e nodes.Entry, err error) error {
		at := filepath.Join(dir, name)
		switch {
		case err != nil:
			return err
		case e.Dir != nil:
			return os.MkdirAll(at, 0o755)
		}
		b, err := nodes.ReadAll(t.Context(), e.File)
		if err != nil {
			return err
		}
		return os.WriteFile(at, b, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs a program in a directory and returns the lines that it prints, in
// order. Where it is not installed the test is skipped.
func run(t *testing.T, dir, name string, args ...string) []string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed", name)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%.2000s", name, strings.Join(args, " "), err, out)
	}
	return slices.Sorted(strings.Lines(string(out)))
}

func TestMountEqualsExport(t *testing.T) {
	for _, procs := range []string{"4", "1"}[:nodestest.Times(2, 1)] {
		t.Run("GOMAXPROCS="+procs, func(t *testing.T) {
			plain := export(t, soundTree())
			c := mountChild(t, "sound", "GOMAXPROCS="+procs)
			testCopies(t, c.dir, plain)
			testPrograms(t, c.dir, plain)
			if s := c.stats(); s.Errors != 0 {
				t.Errorf("%d requests failed: %s", s.Errors, &c.log)
			}
		})
	}
}

func testCopies(t *testing.T, mounted, plain string) {
	t.Run("diff", func(t *testing.T) { run(t, ".", "diff", "-r", mounted, plain) })
	t.Run("cp", func(t *testing.T) {
		copied := filepath.Join(t.TempDir(), "copy")
		run(t, ".", "cp", "-r", "--no-preserve=mode", mounted, copied)
		run(t, ".", "diff", "-r", copied, plain)
	})
	t.Run("tar", func(t *testing.T) {
		nodestest.Long(t)
		archive, unpacked := filepath.Join(t.TempDir(), "a.tar"), t.TempDir()
		run(t, mounted, "tar", "--mode=u+w", "-cf", archive, ".")
		run(t, unpacked, "tar", "-xf", archive)
		run(t, ".", "diff", "-r", unpacked, plain)
	})
	t.Run("rsync", func(t *testing.T) {
		nodestest.Long(t)
		if out := run(t, ".", "rsync", "-rcn", "--delete", "--out-format=%n", mounted+"/", plain); len(out) > 0 {
			t.Errorf("rsync -c finds differences: %.2000s", out)
		}
	})
	t.Run("mmap", func(t *testing.T) {
		const name = "a.recording/raw"
		if !bytes.Equal(mapFile(t, filepath.Join(mounted, name)), mapFile(t, filepath.Join(plain, name))) {
			t.Error("the mapped files differ")
		}
	})
}

// testPrograms runs programs in both directories: they have to print the same.
func testPrograms(t *testing.T, mounted, plain string) {
	for _, line := range []string{
		"grep -rc tick .",
		"grep -r {\"tick\":432 .",
		"find . -type f -size +1k",
		"find . -type f -printf %p:%s\n",
		"wc -c a.recording/raw a.recording/empty notes.txt",
		"tail -c 1000 a.recording/ticks/00000599.json",
		"sha256sum a.recording/raw a.recording/ticks/00000077.json",
		"du -b a.recording/raw",
	} {
		args := strings.Split(line, " ")
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			got, want := run(t, mounted, args[0], args[1:]...), run(t, plain, args[0], args[1:]...)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d lines, want %d; the first: %q, want %q", line, len(got), len(want), got[:1], want[:1])
			}
		})
	}
}

// mapFile returns the content of a file as a program sees it that maps it.
func mapFile(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(b)
	return bytes.Clone(b)
}

// TestMountRequests counts the requests of what programs do most. Unlike
// times that is exact.
func TestMountRequests(t *testing.T) {
	c := mountChild(t, "sample")
	readFile := func(name string) func() {
		return func() {
			if _, err := os.ReadFile(c.path(name)); err != nil {
				t.Error(err)
			}
		}
	}
	stat := func(name string) func() {
		return func() {
			if _, err := os.Lstat(c.path(name)); err != nil && !errors.Is(err, iofs.ErrNotExist) {
				t.Error(err)
			}
		}
	}
	list := func() {
		if names := readNames(t, c.path("a.recording/ticks")); len(names) != 5000 {
			t.Errorf("%d names", len(names))
		}
	}
	for _, step := range []struct {
		what string
		do   func()
		want map[string]uint64
	}{
		{"first file", readFile("a.recording/ticks/00000001.json"), map[string]uint64{"LOOKUP": 3, "OPEN": 1, "READ": 1, "FLUSH": 1}},
		{"second file", readFile("a.recording/ticks/00000002.json"), map[string]uint64{"LOOKUP": 1, "READ": 1}},
		{"warm file", readFile("a.recording/ticks/00000002.json"), nil},
		{"cold stat", stat("a.recording/ticks/00000003.json"), map[string]uint64{"LOOKUP": 1}},
		{"warm stat", stat("a.recording/ticks/00000003.json"), nil},
		{"missing name", stat("a.recording/ticks/x"), map[string]uint64{"LOOKUP": 1}},
		{"missing name again", stat("a.recording/ticks/x"), nil},
		{"empty file", readFile("a.recording/empty"), map[string]uint64{"LOOKUP": 1}},
		// 5000 names of 13 bytes are 40 bytes each: 7 replies with the
		// buffer of this program, of 8 kB, hold 200. The first one is asked
		// for with attributes and holds 48.
		{"names of 5000 files", list, map[string]uint64{"OPENDIR": 1, "READDIRPLUS": 1, "READDIR": 26, "RELEASEDIR": 1}},
	} {
		before := c.stats().Requests
		step.do()
		after := c.settled().Requests
		for op, n := range after {
			if got := n - before[op]; got != step.want[op] && op != "GETATTR" {
				t.Errorf("%s: %d times %s, want %d", step.what, got, op, step.want[op])
			}
		}
	}
}

// settled returns the statistics once requests that nobody waits for
// (RELEASEDIR) have come in.
func (c *child) settled() Stats {
	var s Stats
	nodestest.Eventually(c.t, "RELEASEDIR", func() bool {
		s = c.stats()
		return s.Requests["OPENDIR"] == s.Requests["RELEASEDIR"]
	})
	return s
}

func readNames(t *testing.T, dir string) []string {
	t.Helper()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestMountTwoListersSeek(t *testing.T) {
	c := mountChild(t, "sample")
	dir := c.path("a.recording/ticks")
	want := readNames(t, dir)
	open := func() *os.File {
		f, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	a, b := open(), open()
	var gotA, gotB []string
	rewound := false
	for {
		nextA, errA := a.Readdirnames(700)
		nextB, errB := b.Readdirnames(300)
		gotA, gotB = append(gotA, nextA...), append(gotB, nextB...)
		if len(gotB) > 2000 && !rewound {
			rewound, gotB = true, nil
			if _, err := b.Seek(0, io.SeekStart); err != nil {
				t.Fatal(err)
			}
		}
		if errA == io.EOF && errB == io.EOF {
			break
		}
	}
	if !slices.Equal(gotA, want) || !slices.Equal(gotB, want) {
		t.Errorf("%d and %d names, want %d", len(gotA), len(gotB), len(want))
	}
	// An offset is the index of the next entry, so a listing can begin there.
	f := open()
	if _, err := f.Seek(4000+dotEntries, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Readdirnames(-1); err != nil || !slices.Equal(got, want[4000:]) {
		t.Errorf("%d names from 4000 on, %v", len(got), err)
	}
}

func TestMountErrors(t *testing.T) {
	c := mountChild(t, "sample")
	for name, want := range map[string]error{
		"damaged/broken":     syscall.EIO,
		"damaged/nothing":    syscall.EIO,
		"damaged/short":      syscall.ESTALE,
		"damaged/none":       syscall.ENOENT,
		"notes.txt/x":        syscall.ENOTDIR,
		"damaged":            syscall.EISDIR,
		"link":               syscall.ENOENT,
		"a.recording/states": syscall.EISDIR,

		"damaged/" + strings.Repeat("x", nameMax+1): syscall.ENAMETOOLONG,
	} {
		if b, err := os.ReadFile(c.path(name)); !errors.Is(err, want) {
			t.Errorf("%s: %q, %v, want %v", name, b, err, want)
		}
	}
	if info, err := os.Stat(c.path("damaged/nothing")); err != nil || info.Size() != 0 {
		t.Errorf("damaged/nothing: %v, %v", info, err)
	}
	if b, err := os.ReadFile(c.path("damaged/whole")); string(b) != "whole\n" || err != nil {
		t.Errorf("beside the damage: %q, %v", b, err)
	}
	for what, err := range map[string]error{
		"create": os.WriteFile(c.path("new"), nil, 0o666),
		"write":  os.WriteFile(c.path("notes.txt"), nil, 0o666),
		"remove": os.Remove(c.path("notes.txt")),
		"mkdir":  os.Mkdir(c.path("dir"), 0o777),
		"chmod":  os.Chmod(c.path("notes.txt"), 0o777),
	} {
		if !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: %v, want EROFS", what, err)
		}
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(c.dir, &st); err != nil || st.Namelen != 255 {
		t.Errorf("statfs: %+v, %v", st, err)
	}
}

// counterDir has a file n that says how often it was looked up.
type counterDir struct {
	liveDir
	n atomic.Int64
}

func (d *counterDir) Lookup(_ context.Context, name string) (nodes.Entry, error) {
	if name != "n" {
		return nodes.Entry{}, iofs.ErrNotExist
	}
	text := strings.Repeat("*", int(d.n.Add(1)))
	return nodes.Entry{Name: name, Attr: nodes.Attr{Time: sampleTime}, File: nodes.Bytes([]byte(text))}, nil
}

func TestMountShowsNewVersions(t *testing.T) {
	c := mountChild(t, "counter")
	old, err := os.Open(c.path("n"))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	info, err := old.Stat()
	if err != nil {
		t.Fatal(err)
	}
	last := int(info.Size())
	for range 3 {
		b, err := os.ReadFile(c.path("n"))
		if err != nil || len(b) <= last {
			t.Errorf("%d bytes, %v, want more than the %d of the last version", len(b), err, last)
		}
		last = len(b)
	}
	if b, err := io.ReadAll(old); len(b) != int(info.Size()) || err != nil {
		t.Errorf("the old version: %d bytes, %v, want %d", len(b), err, info.Size())
	}
	if s := c.stats(); s.Nodes > 20 {
		t.Errorf("%d versions are held", s.Nodes)
	}
}

// panicDir panics when "panic" is looked for.
type panicDir struct{ nodes.Dir }

func (d panicDir) Find(ctx context.Context, name string) (int, error) {
	if name == "panic" {
		panic("a decoder did not expect this")
	}
	return d.Dir.Find(ctx, name)
}

func TestMountSurvivesPanic(t *testing.T) {
	c := mountChild(t, "panics")
	if _, err := os.Stat(c.path("panic")); !errors.Is(err, syscall.EIO) {
		t.Errorf("stat: %v, want EIO", err)
	}
	if b, err := os.ReadFile(c.path("notes.txt")); string(b) != "notes\n" || err != nil {
		t.Errorf("afterwards: %q, %v", b, err)
	}
	c.stop()
	if log := c.log.String(); !strings.Contains(log, "did not expect") || !strings.Contains(log, "panicDir.Find") {
		t.Errorf("log: %s", log)
	}
}

func TestMountAgainAfterCrash(t *testing.T) {
	c := mountChild(t, "sample")
	if _, err := Mount(c.dir, sampleTree(), Options{}); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second mount at the same place: %v", err)
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.cmd.Wait()
	c.cmd = nil
	if _, err := os.Stat(c.path("notes.txt")); !errors.Is(err, syscall.ENOTCONN) {
		t.Errorf("stat in a dead mount: %v", err)
	}
	again := startChild(t, "sample", c.dir)
	if b, err := os.ReadFile(again.path("notes.txt")); string(b) != "notes\n" || err != nil {
		t.Errorf("after mounting again: %q, %v", b, err)
	}
}

func TestUnmountWhileInUse(t *testing.T) {
	c := mountChild(t, "sample")
	f, err := os.Open(c.path("notes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Unmount(c.dir, false); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("unmount of a busy mount: %v", err)
	}
	c.stop()
	if names := readNames(t, c.dir); len(names) != 0 {
		t.Errorf("still mounted: %v", names)
	}
	if err := Unmount(c.dir, true); err == nil {
		t.Error("unmounted twice")
	}
}

func TestMountFailures(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		file:                          syscall.ENOTDIR,
		filepath.Join(dir, "missing"): iofs.ErrNotExist,
	} {
		if _, err := Mount(name, sampleTree(), Options{}); !errors.Is(err, want) || !strings.Contains(fmt.Sprint(err), name) {
			t.Errorf("mount at %s: %v, want %v", name, err, want)
		}
	}
}
