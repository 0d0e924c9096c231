//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"recfs/bench/internal/harness"
)

// growing is a recording that is written while it is read.
const growing = "growing.teehistorian"

// A using is an archive of copies and its mount.
type using struct {
	program      harness.Program
	archive, mnt string
	want         map[string]uint32 // checksums by path in a mount, with * for the copy but in tables, which name it
	names        []string
	tables       int  // the first of the names that is in the tables of all, as are those after it
	atRest       bool // nothing that is there changes

	mu    sync.Mutex // guards want, too
	ready []string   // copies that are whole

	reads, faults atomic.Int64
}

// use uses one mount while the archive changes, and then many while it is at rest.
func use(ctx context.Context, dir, recfs string) error {
	u := &using{program: harness.Program{Binary: recfs, Cache: filepath.Join(dir, "cache")}}
	u.archive, u.mnt = filepath.Join(dir, "archive"), filepath.Join(dir, "mnt")
	for i := range *copies {
		name := fmt.Sprintf("copy-%d", i)
		if err := os.CopyFS(filepath.Join(u.archive, name), os.DirFS(*source)); err != nil {
			return err
		}
		u.ready = append(u.ready, name)
		u.touch(name, 1)
	}
	if _, err := u.program.Mount(ctx, u.archive, u.mnt, u.reference); err != nil {
		return err
	}
	if err := u.round(ctx, budget(4), *duration/2); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, *duration/2)
	defer cancel()
	u.atRest = true
	if err := os.RemoveAll(filepath.Join(u.archive, growing)); err != nil {
		return err
	}
	mounts := 0
	for ; ctx.Err() == nil; mounts++ {
		if rand.IntN(3) > 0 { // else the cache has the same recordings under another path
			u.program.Cache = filepath.Join(dir, fmt.Sprintf("cache-%d", mounts))
		}
		archive := filepath.Join(dir, fmt.Sprintf("archive-%d", mounts%3))
		if err := os.Rename(u.archive, archive); err != nil {
			return err
		}
		u.archive = archive
		if err := u.round(ctx, 1<<rand.IntN(4), 5*time.Second); err != nil {
			return err
		}
	}
	fmt.Printf("%d reads, %d mounts at rest, %d faults\n", u.reads.Load(), mounts, u.faults.Load())
	if u.faults.Load() > 0 || u.reads.Load() == 0 {
		return errors.New("reads went wrong, or there were none")
	}
	return nil
}

// reference remembers what is in the files of one copy that can be read, and in its tables among
// those of all.
func (u *using) reference(*harness.Daemon) error {
	u.want = map[string]uint32{}
	see := func(name string, d iofs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(u.mnt, name)
		part := strings.Replace(rel, "copy-0", "*", 1)
		switch {
		case err != nil || relErr != nil:
			return errors.Join(err, relErr)
		case d.IsDir() || filepath.Base(rel) == "header.json": // which has the time of the source
			return nil
		}
		b, err := os.ReadFile(name)
		if err != nil { // it is a damaged sample
			return nil
		}
		u.want[key(part, "copy-0")] = crc32.ChecksumIEEE(b)
		if part != rel {
			u.names = append(u.names, part)
		}
		return nil
	}
	err := filepath.WalkDir(filepath.Join(u.mnt, "copy-0"), see)
	u.tables = len(u.names)
	err = errors.Join(err, filepath.WalkDir(filepath.Join(u.mnt, "tables"), see))
	if err == nil && u.tables == len(u.names) {
		err = errors.New("there are no tables")
	}
	return err
}

// key returns where want has the file called name of a copy.
func key(name, in string) string {
	if strings.HasPrefix(name, "tables") {
		return strings.Replace(name, "*", in, 1)
	}
	return name
}

// known remembers the checksum of a file that was not there in the beginning, and reports whether
// sum is the one that is known.
func (u *using) known(key string, sum uint32) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, ok := u.want[key]; !ok {
		u.want[key] = sum
	}
	return u.want[key] == sum
}

// round uses one mount for a while.
func (u *using) round(ctx context.Context, mib int, long time.Duration) error {
	program := u.program
	program.Flags = []string{budgetFlag(mib)}
	_, err := program.Mount(context.WithoutCancel(ctx), u.archive, u.mnt, func(d *harness.Daemon) (err error) {
		ctx, cancel := context.WithTimeout(ctx, long)
		defer cancel()
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() { u.disturb(ctx) })
		for range *workers {
			wg.Go(func() {
				for u.step(ctx); ctx.Err() == nil; {
					u.step(ctx)
				}
			})
		}
		if u.atRest {
			return nil
		}
		wg.Go(func() { u.grow(ctx) })
		return judge(ctx, d, mib, long)
	})
	for _, name := range u.ready[*copies:] {
		err = errors.Join(err, os.RemoveAll(filepath.Join(u.archive, name)))
	}
	u.ready = u.ready[:*copies]
	return err
}

// step does one thing that a user does.
func (u *using) step(ctx context.Context) {
	u.mu.Lock()
	in := u.ready[rand.IntN(len(u.ready))]
	u.mu.Unlock()
	names := u.names
	if rand.IntN(2) == 0 {
		names = names[u.tables:]
	}
	name := names[rand.IntN(len(names))]
	at := filepath.Join(u.mnt, strings.Replace(name, "*", in, 1))
	lines := []string{
		"tar -cf /dev/null --ignore-failed-read %s", "grep -rqs 'no such text' %s", "find %s -size +1k", "ls -lR %s >/dev/null",
		"cat %s/index.json >/dev/null", "cat " + u.mnt + "/recordings.* >/dev/null",
	}
	if i := rand.IntN(1000); i < len(lines) {
		_ = shell(ctx, fmt.Sprintf(lines[i], "'"+filepath.Dir(at)+"'")) // what it says of damaged samples is nobody's business here
		return
	}
	b, err := readAnyhow(at)
	u.reads.Add(1)
	switch {
	case err != nil && !u.atRest && errors.Is(err, syscall.ESTALE): // touched meanwhile
	case err != nil:
		u.fault("%v", err)
	case !u.known(key(name, in), crc32.ChecksumIEEE(b)):
		u.fault("%s: wrong bytes", at)
	}
}

// shell runs a command whose messages do not matter, and which the end of ctx ends.
func shell(ctx context.Context, line string) error {
	return exec.CommandContext(ctx, "sh", "-c", "exec "+line).Run()
}

func (u *using) fault(format string, args ...any) {
	u.faults.Add(1)
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

// readAnyhow reads a file at once or in pieces from its end on, as engines do.
func readAnyhow(name string) ([]byte, error) {
	if rand.IntN(2) == 0 {
		return os.ReadFile(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	b := make([]byte, size)
	for end := len(b); end > 0; {
		start := max(0, end-1-rand.IntN(1<<18))
		if _, err := f.ReadAt(b[start:end], int64(start)); err != nil {
			return nil, err
		}
		end = start
	}
	return b, err
}

// touch gives one of so many files of a copy another time. It is none of the last seconds, in which
// the end of a recording is held back.
func (u *using) touch(name string, oneOf int) {
	then := time.Now().Add(-time.Hour)
	_ = filepath.WalkDir(filepath.Join(u.archive, name), func(file string, d iofs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && rand.IntN(oneOf) == 0 {
			_ = os.Chtimes(file, then, then)
		}
		return nil
	})
}

// disturb does beside the readers what must not matter to them.
func (u *using) disturb(ctx context.Context) {
	for added := 0; ctx.Err() == nil; {
		copied := fmt.Sprintf("copy-%d", rand.IntN(*copies))
		path := filepath.Join(u.archive, copied)
		switch rand.IntN(8) {
		case 0:
			if name := fmt.Sprintf("added-%d", added); u.atRest && added < *copies && u.add(ctx, path, name) {
				added++
			}
		case 1:
			u.program.Run(ctx, "index", path)
		case 2:
			u.program.Run(ctx, "find", u.archive)
		case 3:
			if !u.atRest {
				u.touch(copied, 4) // so that its tree is a new version
			}
		default: // 1: pages, 2: names; only root may
			_ = os.WriteFile("/proc/sys/vm/drop_caches", fmt.Append(nil, 1+rand.IntN(3)), 0)
		}
		pause(ctx, time.Duration(rand.IntN(500))*time.Millisecond)
	}
}

// pause waits, and reports whether ctx has not ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// add puts another copy into the archive, and waits until all of it is shown: what is known of the
// archive is good for a moment.
func (u *using) add(ctx context.Context, from, name string) bool {
	if err := shell(ctx, fmt.Sprintf("cp -a '%s' '%s'", from, filepath.Join(u.archive, name))); err != nil {
		return false
	}
	missing := func(file string) bool {
		_, err := os.Stat(filepath.Join(u.mnt, strings.Replace(file, "*", name, 1)))
		return strings.HasPrefix(file, "tables") && err != nil
	}
	for pause(ctx, 50*time.Millisecond) {
		if !slices.ContainsFunc(u.names, missing) {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.ready = append(u.ready, name)
			return true
		}
	}
	return false
}

// grow appends a sample to a recording, again and again, and reads what the mount shows of it.
func (u *using) grow(ctx context.Context) {
	whole, err := os.ReadFile("testdata/archive/teehistorian/reload-20.1.teehistorian")
	for ctx.Err() == nil && err == nil {
		var f *os.File
		if f, err = os.Create(filepath.Join(u.archive, growing)); err != nil {
			break
		}
		for rest := whole; len(rest) > 0 && ctx.Err() == nil && err == nil; {
			n := min(1+rand.IntN(20_000), len(rest))
			_, err = f.Write(rest[:n])
			rest = rest[n:]
			pause(ctx, time.Duration(rand.IntN(200))*time.Millisecond)
			raw, readErr := os.ReadFile(filepath.Join(u.mnt, growing, "raw"))
			if readErr != nil && !isOneOf(readErr, []error{syscall.ESTALE, iofs.ErrNotExist}) || !bytes.HasPrefix(whole, raw) {
				u.fault("%s: wrong bytes, or %v", growing, readErr)
			}
		}
		f.Close()
	}
	if err != nil {
		u.fault("%v", err)
	}
}

// judge samples a daemon until ctx ends, eight times or more, and returns an error if it grew. The
// first quarter fills caches and pools, and is left out.
func judge(ctx context.Context, d *harness.Daemon, mib int, long time.Duration) error {
	var samples [3][]int
	for pause(ctx, max(long/40, 100*time.Millisecond)) || len(samples[0]) < 8 {
		rss, err := d.Number("status", "VmRSS")
		threads, threadsErr := d.Number("status", "Threads")
		files, filesErr := d.Files()
		if err := errors.Join(err, threadsErr, filesErr); err != nil {
			return fmt.Errorf("the daemon is gone: %w", err)
		}
		for i, v := range []int{rss, files, threads} {
			samples[i] = append(samples[i], v)
		}
	}
	quarter := len(samples[0]) / 4
	for i, of := range []struct {
		name string
		warm int // growth up to here is warming up
	}{{"KiB resident", (mib + 64) << 10}, {"descriptors", 400}, {"threads", 40}} {
		all := samples[i]
		early, late := median(all[quarter:2*quarter]), median(all[len(all)-quarter:])
		fmt.Printf("%-12s %12d in the second quarter, %12d in the last\n", of.name, early, late)
		if late > max(early+early/10, of.warm) {
			return errors.New("the daemon grows")
		}
	}
	return nil
}

func median(all []int) int {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}
