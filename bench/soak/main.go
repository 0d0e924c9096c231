// Command soak mounts an archive and uses it hard for a while: random reads,
// greps, listings and tars, while one recording grows and others are replaced
// and removed, with a memory cache far smaller than what is read. It samples
// the daemon's memory, descriptors and threads, and fails if a read gave wrong
// bytes, if anything else than the expected errors happened, or if one of them
// grew between the second and the last quarter of the time, beyond what a
// daemon has that has warmed up.
//
//	go run ./bench/soak [-recfs /tmp/recfs] -for 1h [-source testdata/archive] [-copies 20]
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
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

var (
	duration = flag.Duration("for", time.Minute, "how long")
	source   = flag.String("source", "testdata/archive", "recordings to use")
	copies   = flag.Int("copies", 20, "copies of them in the archive")
	cacheMem = flag.Int("cache-mem", 4, "memory budget of the daemon in MiB")
	workers  = flag.Int("workers", 4, "concurrent users")
)

func main() { harness.Main("soak", run) }

func run(ctx context.Context, dir, recfs string) (err error) {
	s := &soak{archive: filepath.Join(dir, "archive"), mnt: filepath.Join(dir, "mnt")}
	for i := range *copies {
		name := fmt.Sprintf("copy-%03d", i)
		if err := os.CopyFS(filepath.Join(s.archive, name), os.DirFS(*source)); err != nil {
			return err
		}
		s.touch(name, 1)
	}
	program := harness.Program{
		Binary: recfs, Cache: filepath.Join(dir, "cache"),
		Flags: []string{"--cache-mem", fmt.Sprintf("%dMiB", *cacheMem), "--log-file", filepath.Join(dir, "log")},
	}
	if s.daemon, err = program.Start(ctx, s.archive, s.mnt); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.daemon.Stop()) }()
	if err := s.reference(); err != nil {
		return err
	}
	return s.work(ctx)
}

// A soak is one run.
type soak struct {
	archive, mnt string
	daemon       *harness.Daemon
	want         map[string]uint32 // checksums of the files of one copy, by path in it
	names        []string
	dirs         []string // recordings and what holds them, by path in a copy

	reads, bytes, wrong, failed atomic.Int64
}

// reference remembers what is in the files of one copy that can be read.
func (s *soak) reference() error {
	s.want = map[string]uint32{}
	root := filepath.Join(s.mnt, "copy-000")
	return filepath.WalkDir(root, func(name string, d iofs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && strings.Count(rel, "/") < 2 {
				s.dirs = append(s.dirs, rel)
			}
			return nil
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return nil // a damaged sample
		}
		s.want[rel] = crc32.ChecksumIEEE(b)
		s.names = append(s.names, rel)
		return nil
	})
}

// work runs the users and samples the daemon.
func (s *soak) work(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, *duration)
	defer cancel()
	var wg sync.WaitGroup
	for range *workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				s.step(ctx)
			}
		})
	}
	wg.Go(func() { s.grow(ctx) })
	var samples []sample
	for tick := time.NewTicker(max(*duration/40, 100*time.Millisecond)); ctx.Err() == nil; {
		select {
		case <-tick.C:
			now, err := measure(s.daemon)
			if err != nil {
				return fmt.Errorf("the daemon is gone: %w", err)
			}
			samples = append(samples, now)
		case <-ctx.Done():
		}
	}
	wg.Wait()
	return s.judge(samples)
}

// step does one thing that a user does.
func (s *soak) step(ctx context.Context) {
	name := fmt.Sprintf("copy-%03d", rand.IntN(*copies))
	at := filepath.Join(s.mnt, name, s.dirs[rand.IntN(len(s.dirs))])
	switch rand.IntN(20) {
	case 0:
		s.tool(ctx, "tar", "-cf", "/dev/null", "--ignore-failed-read", "-C", at, ".")
	case 1:
		s.tool(ctx, "grep", "-rqs", "no such text", at)
	case 2:
		s.tool(ctx, "find", at, "-size", "+1k", "-newer", s.archive)
	case 3:
		s.tool(ctx, "ls", "-lR", at)
	case 4:
		s.touch(name, 4) // so that its tree is a new version
	default:
		s.read(name, s.names[rand.IntN(len(s.names))])
	}
}

// touch gives one of so many files of a copy another time. It is none of the last seconds, in which the end of a recording
// is held back.
func (s *soak) touch(name string, oneOf int) {
	then := time.Now().Add(-time.Hour)
	_ = filepath.WalkDir(filepath.Join(s.archive, name), func(file string, d iofs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && rand.IntN(oneOf) == 0 {
			_ = os.Chtimes(file, then, then)
		}
		return nil
	})
}

// tool runs a program on the mount; what it says of damaged samples is nobody's business here.
func (s *soak) tool(ctx context.Context, name string, args ...string) {
	cmd := exec.CommandContext(ctx, name, args...)
	_ = cmd.Run()
}

// read compares a file of a copy with the reference. Files that show the time
// of the source differ between copies in those times.
func (s *soak) read(name, rel string) {
	b, err := os.ReadFile(filepath.Join(s.mnt, name, rel))
	if err != nil {
		if !errors.Is(err, syscall.ESTALE) { // touched meanwhile
			s.failed.Add(1)
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	s.reads.Add(1)
	s.bytes.Add(int64(len(b)))
	if filepath.Base(rel) != "header.json" && crc32.ChecksumIEEE(b) != s.want[rel] {
		s.wrong.Add(1)
		fmt.Fprintf(os.Stderr, "%s/%s: wrong bytes\n", name, rel)
	}
}

// grow appends one sample to a growing recording, again and again, and reads
// what the mount shows of it.
func (s *soak) grow(ctx context.Context) {
	whole := s.growing()
	if whole == nil {
		return
	}
	name := "growing.teehistorian"
	for ctx.Err() == nil {
		f, err := os.Create(filepath.Join(s.archive, name))
		if err != nil {
			s.failed.Add(1)
			return
		}
		for rest := whole; len(rest) > 0 && ctx.Err() == nil; {
			n := min(1+rand.IntN(20_000), len(rest))
			if _, err := f.Write(rest[:n]); err != nil {
				s.failed.Add(1)
			}
			rest = rest[n:]
			time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
			raw, err := os.ReadFile(filepath.Join(s.mnt, name, "raw"))
			switch {
			case errors.Is(err, syscall.ESTALE), errors.Is(err, iofs.ErrNotExist):
			case err != nil:
				s.failed.Add(1)
				fmt.Fprintln(os.Stderr, err)
			case !bytes.HasPrefix(whole, raw):
				s.wrong.Add(1)
				fmt.Fprintf(os.Stderr, "%s: wrong bytes\n", name)
			}
		}
		f.Close()
	}
}

// growing returns the largest teehistorian sample.
func (s *soak) growing() (b []byte) {
	_ = filepath.WalkDir(*source, func(name string, d iofs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".teehistorian") {
			if c, err := os.ReadFile(name); err == nil && len(c) > len(b) {
				b = c
			}
		}
		return nil
	})
	return b
}

// A sample is what the daemon uses at one moment.
type sample struct {
	rssKiB, files, threads int
}

func measure(d *harness.Daemon) (s sample, err error) {
	if s.rssKiB, err = d.Number("status", "VmRSS"); err != nil {
		return s, err
	}
	if s.threads, err = d.Number("status", "Threads"); err != nil {
		return s, err
	}
	s.files, err = d.Files()
	return s, err
}

// judge prints what was seen and returns an error if the daemon did not hold up.
func (s *soak) judge(samples []sample) error {
	if len(samples) < 8 {
		return errors.New("too short to say anything")
	}
	quarter := len(samples) / 4
	column := func(part []sample, of func(sample) int) int {
		var all []int
		for _, x := range part {
			all = append(all, of(x))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	fmt.Printf("%d reads, %d MiB, %d wrong, %d failed\n", s.reads.Load(), s.bytes.Load()>>20, s.wrong.Load(), s.failed.Load())
	fmt.Printf("%-12s %12s %12s\n", "median", "2nd quarter", "last quarter")
	grew := false
	// The first quarter fills caches and pools and is left out.
	early, late := samples[quarter:2*quarter], samples[len(samples)-quarter:]
	for _, c := range []struct {
		name string
		of   func(sample) int
		warm int // growth up to here is warming up
	}{
		{"RSS KiB", func(x sample) int { return x.rssKiB }, (*cacheMem + 64) << 10},
		{"descriptors", func(x sample) int { return x.files }, 400},
		{"threads", func(x sample) int { return x.threads }, 40},
	} {
		a, b := column(early, c.of), column(late, c.of)
		fmt.Printf("%-12s %12d %12d\n", c.name, a, b)
		grew = grew || b > max(a+a/10, c.warm)
	}
	switch {
	case s.reads.Load() == 0:
		return errors.New("nothing was read")
	case s.wrong.Load() > 0 || s.failed.Load() > 0:
		return errors.New("reads went wrong")
	case grew:
		return errors.New("the daemon grows")
	}
	_, err := io.WriteString(os.Stdout, "held up\n")
	return err
}
