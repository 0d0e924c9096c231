//go:build linux && (amd64 || arm64 || riscv64)

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"recfs/nodes/nodestest"
)

// smallMemory makes a daemon need its cache on disk again and again, and keep there a decompressed
// copy of what is compressed.
const smallMemory = "--cache-mem=64KiB"

// compressedSamples returns a directory with small samples and a compressed one, the last by name.
func compressedSamples(t *testing.T) string {
	t.Helper()
	dir := smallSamples(t)
	b, err := os.ReadFile(filepath.Join(dir, "teehistorian/reload-20.1.teehistorian"))
	must(t, err)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(b)
	must(t, errors.Join(err, z.Close()))
	must(t, os.WriteFile(filepath.Join(dir, "teehistorian/z.teehistorian.gz"), packed.Bytes(), 0o666))
	return dir
}

// A cachedMount is a mount with a cache on disk.
type cachedMount struct {
	dir, log string
	end      func()
}

// mountCached mounts an archive until end or the end of the test.
func mountCached(t *testing.T, archive string, flags ...string) *cachedMount {
	t.Helper()
	m := &cachedMount{dir: filepath.Join(t.TempDir(), "mnt"), log: filepath.Join(t.TempDir(), "log")}
	args := append([]string{"mount", "-f", smallMemory, "--log-file", m.log}, flags...)
	cmd := recfs(t, append(args, archive, m.dir)...)
	must(t, cmd.Start())
	m.end = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the daemon ended with %v", err)
		}
	})
	t.Cleanup(m.end)
	nodestest.Eventually(t, "a mount", func() bool { return exists(filepath.Join(m.dir, controlName)) })
	return m
}

// warnings returns the lines of the log about the cache as a whole.
func (m *cachedMount) warnings(t *testing.T) (lines []string) {
	t.Helper()
	log, err := os.ReadFile(m.log)
	must(t, err)
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "disk cache") {
			lines = append(lines, line)
		}
	}
	return lines
}

// shownSamples returns what a mount of an archive without a cache on disk shows: by name, what
// content makes of a file. Of a directory of very many files, only some are taken.
func shownSamples(t *testing.T, archive string) map[string]string {
	t.Helper()
	m := mountCached(t, archive, "--cache-disk=0")
	defer m.end()
	shown, seen := map[string]string{}, map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(fileNames(t, m.dir))) {
		dir := filepath.Dir(name)
		if seen[dir]++; seen[dir] <= 4 || seen[dir]%200 == 0 {
			shown[name] = content(m.dir, name)
		}
	}
	if len(shown) < 300 {
		t.Fatalf("only %d files in the samples", len(shown))
	}
	return shown
}

// content returns a checksum of a file, or why it cannot be read: some samples are damaged.
func content(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return errno.Error()
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

// compare reads files and holds them against what they have to be.
func (m *cachedMount) compare(t *testing.T, want map[string]string, names []string) {
	t.Helper()
	wrong := 0
	for _, name := range names {
		if got := content(m.dir, name); got != want[name] {
			if wrong++; wrong <= 10 {
				t.Errorf("%s is %s, want %s", name, got, want[name])
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d files are wrong", wrong, len(names))
	}
}

// noTemps fails the test if a process that has ended left unfinished files in a cache.
func noTemps(t *testing.T, cache string) {
	t.Helper()
	for name := range fileNames(t, cache) {
		if strings.HasPrefix(filepath.Base(name), "tmp-") {
			t.Errorf("left in the cache: %s", name)
		}
	}
}

// mountTiny mounts a file system of 64 KiB until the test ends.
func mountTiny(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=64k,mode=700"); err != nil {
		t.Skipf("no tmpfs can be mounted: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(dir, 0)) })
	return dir
}

// An export to a file system that is full says so once, and tries no other recording.
func TestExportToFullDisk(t *testing.T) {
	if !canMount() {
		t.Skip("needs root")
	}
	setCacheHome(t)
	to := filepath.Join(mountTiny(t), "tables")
	out, err := recfs(t, "export", "--jobs=1", "tables", samples, to).CombinedOutput()
	if err == nil || bytes.Count(out, []byte("no space left")) > 5 || !bytes.Contains(out, []byte(to+" has no room for more; the same command goes on")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// An export to a file system that cannot be written to says so once, unless all is there already.
func TestExportToReadOnlyDisk(t *testing.T) {
	if !canMount() {
		t.Skip("needs root")
	}
	setCacheHome(t)
	to := t.TempDir()
	must(t, recfs(t, "export", "tables", "--format=nethack", samples, to).Run())
	mountReadOnly(t, to)
	if out, err := recfs(t, "export", "tables", "--format=nethack", samples, to).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	out, err := recfs(t, "export", "--jobs=1", "tables", samples, to).CombinedOutput()
	if err == nil || bytes.Count(out, []byte("read-only file system")) > 5 || !bytes.Contains(out, []byte("recfs: cannot write "+to+": read-only file system")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// mountReadOnly makes a directory read-only until the test ends.
func mountReadOnly(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("no directory can be bound: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(dir, 0)) })
	must(t, unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
}

// TestUnwritableCache mounts with cache directories on a file system that is full soon and on one
// that is read-only, empty or with some indexes: all files are right, and the log says it once.
func TestUnwritableCache(t *testing.T) {
	nodestest.Long(t)
	if !canMount() {
		t.Skip("needs /dev/fuse and root")
	}
	archive := compressedSamples(t)
	want := shownSamples(t, archive)
	forward := slices.Sorted(maps.Keys(want))
	backward := slices.Clone(forward) // begins with the compressed sample
	slices.Reverse(backward)

	for _, names := range [][]string{forward, backward} {
		t.Run("full", func(t *testing.T) {
			dir := mountTiny(t)
			m := mountCached(t, archive, "--cache-dir", dir)
			m.compare(t, want, names)
			m.end()
			expectWarning(t, m, unix.ENOSPC)
			noTemps(t, dir)
		})
	}
	for _, indexed := range []string{"", "hcrp"} {
		t.Run("read-only", func(t *testing.T) {
			dir := t.TempDir()
			if indexed != "" {
				must(t, recfs(t, "index", "--cache-dir", dir, filepath.Join(archive, indexed)).Run())
			}
			mountReadOnly(t, dir)
			before := fileNames(t, dir)
			m := mountCached(t, archive, "--cache-dir", dir)
			m.compare(t, want, forward)
			m.end()
			expectWarning(t, m, unix.EROFS)
			if after := fileNames(t, dir); !maps.Equal(before, after) {
				t.Errorf("%d files before, %d after", len(before), len(after))
			}
		})
	}
}

// expectWarning wants one line about the cache in the log of a mount that has ended.
func expectWarning(t *testing.T, m *cachedMount, reason unix.Errno) {
	t.Helper()
	if lines := m.warnings(t); len(lines) != 1 || !strings.Contains(lines[0], reason.Error()) {
		t.Errorf("%d lines about the cache, want one with %q:\n%s", len(lines), reason, strings.Join(lines, ""))
	}
}

// TestSharedCacheDamaged lets two daemons and recfs index share one cache directory that is too
// small for all they save, while its files are changed, cut and removed: both mounts always show
// the right bytes, and so does the next one.
func TestSharedCacheDamaged(t *testing.T) {
	nodestest.Long(t)
	if !canMount() {
		t.Skip("needs /dev/fuse and root")
	}
	const limit = 16 << 10
	archive := compressedSamples(t)
	want := shownSamples(t, archive)
	names := slices.Sorted(maps.Keys(want))
	dir := t.TempDir()
	flags := []string{"--cache-dir", dir, fmt.Sprint("--cache-disk=", limit)}

	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	mounts := []*cachedMount{mountCached(t, archive, flags...), mountCached(t, archive, flags...)}
	for _, m := range mounts {
		for range 2 {
			work.Go(func() {
				for ctx.Err() == nil {
					at := rand.IntN(len(names) - 20)
					m.compare(t, want, names[at:at+20])
				}
			})
		}
	}
	runs, damaged := 0, atomic.Int64{}
	work.Go(func() {
		defer cancel()
		for ; runs < nodestest.Times(2, 1) || damaged.Load() < int64(nodestest.Times(100, 30)) && runs < 20; runs++ {
			index := recfs(t, append([]string{"index", "--json", smallMemory, archive}, flags...)...)
			out, _ := index.Output()
			if n := strings.Count(string(out), `"error"`); n != 1 || index.ProcessState.ExitCode() != exitFailed {
				t.Errorf("index: %v, %d recordings fail, want only old.milk:\n%s", index.ProcessState, n, out)
			}
		}
	})
	work.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(2 * time.Millisecond) {
			damaged.Add(damageOne(t, dir))
		}
	})
	largest := int64(0)
	work.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(2 * time.Millisecond) {
			largest = max(largest, sizeBelow(dir))
		}
	})
	work.Wait()
	for _, m := range mounts {
		m.end()
	}
	t.Logf("%d runs of index, %d files damaged, %d bytes at most", runs, damaged.Load(), largest)
	if damaged.Load() < 20 {
		t.Error("too few to mean anything")
	}
	const processes = 3
	if largest > limit+processes*limit/8 {
		t.Errorf("the cache had %d bytes, its limit is %d", largest, limit)
	}
	noTemps(t, dir)

	for range nodestest.Times(2, 1) { // the second time with all that is saved being sound
		m := mountCached(t, archive, flags...)
		m.compare(t, want, names)
		m.end()
	}
	noTemps(t, dir)
	if n := sizeBelow(dir); n > limit {
		t.Errorf("one process leaves %d bytes, the limit is %d", n, limit)
	}
}

// damageOne changes, cuts or removes a file of a cache, and returns 1 if there was one.
func damageOne(t *testing.T, dir string) int64 {
	files, _ := filepath.Glob(filepath.Join(dir, "v3", "*", "*"))
	if len(files) == 0 {
		return 0
	}
	name := files[rand.IntN(len(files))]
	how := rand.IntN(3)
	if how == 0 {
		if err := os.Remove(name); err != nil && !errors.Is(err, iofs.ErrNotExist) {
			t.Error(err)
		}
		return 1
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return 0 // gone meanwhile
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return 0
	}
	at := rand.Int64N(info.Size())
	if tail := info.Size() - 200; tail > 0 && rand.IntN(2) == 0 {
		at = tail + rand.Int64N(200) // where a copy has its tables
	}
	if how == 1 {
		err = f.Truncate(at)
	} else {
		var b [1]byte
		if _, err = f.ReadAt(b[:], at); err == nil {
			_, err = f.WriteAt([]byte{b[0] ^ byte(1+rand.IntN(255))}, at)
		}
	}
	if err != nil {
		return 0 // replaced or cut meanwhile
	}
	return 1
}

// sizeBelow returns how many bytes the files of a cache have at one moment: two looks at all of
// them find the same.
func sizeBelow(dir string) (n int64) {
	look := func() (files map[string]os.FileInfo) {
		files = map[string]os.FileInfo{}
		names, _ := filepath.Glob(filepath.Join(dir, "v3", "*", "*"))
		for _, name := range names {
			if info, err := os.Stat(name); err == nil {
				files[name] = info
			}
		}
		return files
	}
	for before, now := look(), look(); ; before, now = now, look() {
		if maps.EqualFunc(before, now, func(a, b os.FileInfo) bool { return os.SameFile(a, b) && a.Size() == b.Size() }) {
			for _, info := range now {
				n += info.Size()
			}
			return n
		}
	}
}
