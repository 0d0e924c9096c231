//go:build linux

// Command rest reads the tables of an archive at rest in any order, cold and warm, with little memory, while commands look
// at the same archive with the same cache, indexes are made, copies are put beside it and the kernel drops what it remembers.
// Whatever is not the right bytes is a fault: nothing that was there before changes. Rounds are mounts, each of the
// archive under another path. A run is all tables of one copy.
//
//	go run ./bench/rest [-recfs /tmp/recfs] -for 10m [-source testdata/archive] [-copies 6]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
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
	round    = flag.Duration("round", 5*time.Second, "how long one mount is used")
	source   = flag.String("source", "testdata/archive", "recordings to use")
	copies   = flag.Int("copies", 6, "copies of them in the archive")
	workers  = flag.Int("workers", 4, "concurrent readers")
)

func main() { harness.Main("rest", run) }

// A rest is an archive at rest.
type rest struct {
	program      harness.Program
	archive, mnt string
	want         map[string]uint32 // checksums of the tables of a copy, by format/table and the path in it
	names        []string
	recordings   []string // that have tables, by path in a copy

	mu    sync.Mutex
	ready []string // copies that are whole

	runs, reads, faults atomic.Int64
}

func run(ctx context.Context, dir, recfs string) error {
	r := &rest{program: harness.Program{Binary: recfs, Cache: filepath.Join(dir, "first")}, mnt: filepath.Join(dir, "mnt")}
	r.archive = filepath.Join(dir, "archive")
	for i := range *copies {
		name := fmt.Sprintf("copy-%d", i)
		if err := os.CopyFS(filepath.Join(r.archive, name), os.DirFS(*source)); err != nil {
			return err
		}
	}
	if err := harness.Command(ctx, nil, "tar", "-cf", filepath.Join(r.archive, "copy.tar"), "-C", filepath.Join(r.archive, "copy-0"), "."); err != nil {
		return err
	}
	if err := r.program.Mounted(ctx, r.archive, r.mnt, r.reference); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, *duration)
	defer cancel()
	rounds := 0
	for ; ctx.Err() == nil; rounds++ {
		if rand.IntN(3) > 0 { // else the cache has the same recordings under another path
			r.program.Cache = filepath.Join(dir, fmt.Sprintf("cache-%d", rounds))
		}
		if err := r.round(ctx, filepath.Join(dir, fmt.Sprintf("archive-%d", rounds%3))); err != nil {
			return err
		}
	}
	fmt.Printf("%d runs, %d reads, %d mounts, %d faults\n", r.runs.Load(), r.reads.Load(), rounds, r.faults.Load())
	if r.faults.Load() > 0 {
		return errors.New("an archive at rest was not what it is")
	}
	return nil
}

// reference reads the tables of a copy with a cache of its own.
func (r *rest) reference() error {
	r.want = map[string]uint32{}
	top, recordings := filepath.Join(r.mnt, "tables"), map[string]bool{}
	err := filepath.WalkDir(top, func(name string, d iofs.DirEntry, err error) error {
		kind, in, ok := strings.Cut(name, "/copy-0/")
		if err != nil || d.IsDir() || !ok {
			return err
		}
		b, err := os.ReadFile(name)
		r.want[strings.TrimPrefix(kind, top)+"/"+in] = crc32.ChecksumIEEE(b)
		recordings[strings.TrimSuffix(in, ".parquet")] = true
		return err
	})
	for name := range r.want {
		r.names = append(r.names, name)
	}
	for name := range recordings {
		r.recordings = append(r.recordings, name)
	}
	if err == nil && len(r.names) == 0 {
		err = errors.New("no tables")
	}
	return err
}

// round uses one mount for a while.
func (r *rest) round(ctx context.Context, archive string) (err error) {
	if err := os.Rename(r.archive, archive); err != nil {
		return err
	}
	r.archive, r.ready = archive, []string{"copy.tar"}
	for i := range *copies {
		r.ready = append(r.ready, fmt.Sprintf("copy-%d", i))
	}
	program := r.program
	program.Flags = []string{"--cache-mem", fmt.Sprintf("%dMiB", 1<<rand.IntN(4))}
	daemon, err := program.Start(context.WithoutCancel(ctx), r.archive, r.mnt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, daemon.Stop()) }()
	ctx, cancel := context.WithTimeout(ctx, *round)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { r.disturb(ctx) })
	for range *workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				r.read(ctx)
			}
		})
	}
	wg.Wait()
	for _, name := range r.ready[*copies+1:] {
		err = errors.Join(err, os.RemoveAll(filepath.Join(r.archive, name)))
	}
	return err
}

// read is one run.
func (r *rest) read(ctx context.Context) {
	r.mu.Lock()
	in := r.ready[rand.IntN(len(r.ready))]
	r.mu.Unlock()
	names := slices.Clone(r.names)
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		if ctx.Err() != nil {
			return
		}
		at := r.table(name, in)
		if b := r.file(at); b != nil && crc32.ChecksumIEEE(b) != r.want[name] {
			r.fault(fmt.Errorf("%s: wrong bytes", at))
		}
		recording := filepath.Join(r.mnt, in, r.recordings[rand.IntN(len(r.recordings))])
		switch rand.IntN(40) {
		case 0, 1: // the catalogue knows more then
			r.file(filepath.Join(recording, "index.json"))
		case 2:
			r.file(filepath.Join(r.mnt, "recordings.jsonl"))
		case 3:
			r.file(filepath.Join(r.mnt, "recordings.parquet"))
		case 4:
			r.walk(recording)
		}
	}
	r.runs.Add(1)
}

// walk reads some files of a recording, for which the mount gives up what it remembers of others.
func (r *rest) walk(recording string) {
	left := 300
	_ = filepath.WalkDir(recording, func(name string, d iofs.DirEntry, err error) error {
		if left--; err != nil || left == 0 {
			return iofs.SkipAll
		}
		if !d.IsDir() && rand.IntN(3) == 0 {
			if _, err := readAnyhow(name); errors.Is(err, syscall.ESTALE) { // some samples are damaged
				r.fault(err)
			}
		}
		return nil
	})
}

// table returns where a table of a copy is.
func (r *rest) table(name, in string) string {
	part := strings.SplitN(name, "/", 4) // of /format/table/path
	return filepath.Join(r.mnt, "tables", part[1], part[2], in, part[3])
}

// isShown waits until all tables of a copy that was just made are found: what is known of the archive is good for a moment.
func (r *rest) isShown(ctx context.Context, in string) bool {
	missing := func(name string) bool {
		_, err := os.Stat(r.table(name, in))
		return err != nil
	}
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if !slices.ContainsFunc(r.names, missing) {
			return true
		}
	}
	return false
}

// file reads a file, in any order, and returns it unless that failed.
func (r *rest) file(name string) []byte {
	r.reads.Add(1)
	b, err := readAnyhow(name)
	if err != nil {
		r.fault(err)
		return nil
	}
	return b
}

func (r *rest) fault(err error) {
	r.faults.Add(1)
	fmt.Fprintln(os.Stderr, err)
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
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, info.Size())
	for end := len(b); end > 0; {
		start := max(0, end-1-rand.IntN(1<<18))
		if _, err := f.ReadAt(b[start:end], int64(start)); err != nil {
			return nil, err
		}
		end = start
	}
	return b, nil
}

// disturb does beside the readers what must not matter to them.
func (r *rest) disturb(ctx context.Context) {
	for added := 0; ctx.Err() == nil; {
		copied := filepath.Join(r.archive, fmt.Sprintf("copy-%d", rand.IntN(*copies)))
		switch rand.IntN(8) {
		case 0:
			if name := fmt.Sprintf("added-%d", added); added < *copies && harness.Command(ctx, nil, "cp", "-a", copied, filepath.Join(r.archive, name)) == nil && r.isShown(ctx, name) {
				r.mu.Lock()
				r.ready, added = append(r.ready, name), added+1
				r.mu.Unlock()
			}
		case 1:
			_, _ = r.program.Run(ctx, nil, "index", copied)
		case 2:
			_, _ = r.program.Run(ctx, nil, "find", r.archive)
		case 3:
			_, _ = r.program.Run(ctx, nil, "info", copied)
		case 4:
			_ = exec.CommandContext(ctx, "ls", "-lR", filepath.Join(r.mnt, "tables")).Run()
		default: // 1: pages, 2: names; only root may
			_ = os.WriteFile("/proc/sys/vm/drop_caches", fmt.Append(nil, 1+rand.IntN(3)), 0)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(rand.IntN(500)) * time.Millisecond):
		}
	}
}
