// Memory looks at what recfs takes at most, against what it promises: the budget of the cache and
// 64 MiB, whatever the recordings are and however many read them; where the largest thing that is made
// alone takes more than the budget, that and 64 MiB, and never a sum of several.
//
//	go run ./bench/memory [-recfs BIN] [-budget 32MiB] [-only NAME]
//	go run ./bench/memory -only catalogue [-records 1000000]
//
// Each case makes files that are small and become large, mounts them, and lets many read everything in
// the mount at the same time. It prints the highest resident size of the daemon (VmHWM) and fails if one
// is above the promise, or if a reader does not come to its end. Of the crowd it prints as well how long
// the reads of whole recordings took beside those of hostile files.
//
// The cases of the catalogue make very many recordings, and run only by their names.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"recfs/bench/internal/harness"
)

const mib = 1 << 20

var (
	budget = flag.Int64("budget", 32, "of the cache, in MiB")
	only   = flag.String("only", "", "run only the case of that name")
	limit  = flag.Duration("limit", 5*time.Minute, "that a case may take")
	count  = flag.Int("records", 100_000, "recordings in the catalogue")
)

// A sample is a case: files in a directory, and how many read them.
type sample struct {
	name    string
	readers int
	make    func(dir string) error
	flags   []string
	statted bool     // readers ask for sizes alone, as find does
	own     bool     // each reader reads one of the files; else all read all
	files   []string // that are read, in place of all; the case runs only by its name
	budget  int64    // in MiB, if not that of the flag
	alone   int64    // in MiB: the largest that is made alone, if that is more than the budget
	start   int64    // how many bytes of each file are read, if not 64 MiB
}

var samples = []sample{
	{name: "maps", readers: 10, make: manyOf("m%d.map", 10, hugeMap), statted: true},
	{name: "maps-read", readers: 4, make: manyOf("m%d.map", 4, hugeMap), own: true},
	{name: "lines", readers: 12, make: manyOf("l%d.nhgame", 12, longLog)},
	{name: "readers", readers: 200, own: true, make: func(dir string) error { return os.CopyFS(dir, os.DirFS("testdata/archive")) }},
	{
		name: "windows", readers: 16, make: manyOf("w%02d.tar.zst", 16, wideTar), own: true,
		flags: []string{"--cache-disk", "0"}, budget: 256,
	},
	{name: "crowd", readers: crowded, make: crowd, own: true, alone: windowSize, start: 4 * mib},
	{name: "catalogue", readers: 1, make: tinyRecordings, files: []string{"recordings.jsonl"}},
	{name: "catalogue-parquet", readers: 1, make: tinyRecordings, files: []string{"recordings.parquet"}},
	{name: "catalogue-tables", readers: 1, make: tinyRecordings, files: []string{"tables"}},
}

func main() { harness.Main("memory", run) }

func run(ctx context.Context, dir, recfs string) (err error) {
	for _, s := range samples {
		if *only == "" && s.files == nil || *only != "" && strings.HasPrefix(s.name, *only) {
			err = errors.Join(err, s.run(ctx, recfs, filepath.Join(dir, s.name)))
		}
	}
	return err
}

// run makes the files, mounts them and reads.
func (s sample) run(ctx context.Context, recfs, dir string) error {
	source, mnt := filepath.Join(dir, "source"), filepath.Join(dir, "mnt")
	if err := os.MkdirAll(source, 0o777); err != nil {
		return err
	}
	if err := s.make(source); err != nil {
		return err
	}
	budget := cmp.Or(s.budget, *budget)
	flags := append([]string{"--cache-mem", fmt.Sprintf("%dMiB", budget), "--log-file", filepath.Join(dir, "log")}, s.flags...)
	daemon, err := harness.Program{Binary: recfs, Cache: filepath.Join(dir, "cache"), Flags: flags}.Start(ctx, source, mnt)
	if err != nil {
		return err
	}
	began := time.Now()
	var times waits
	err = s.read(ctx, mnt, &times)
	took := time.Since(began).Round(time.Second / 10)
	peak, peakErr := daemon.Number("status", "VmHWM")
	err = errors.Join(err, peakErr, daemon.Stop())
	promised := max(budget, s.alone) + 64
	fmt.Printf("%-10s %3d readers %8v  peak %4d MiB of %d MiB\n", s.name, s.readers, took, peak/1024, promised)
	times.print()
	if err == nil && int64(peak/1024) > promised {
		err = errors.New("more than was promised")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// read lets all readers walk through the mount at once.
func (s sample) read(ctx context.Context, mnt string, times *waits) error {
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	errs := make([]error, s.readers)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = s.walk(ctx, mnt, i, times) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// walk looks at every file, beginning with another one for each reader. What cannot be read does not
// matter here.
func (s sample) walk(ctx context.Context, mnt string, reader int, times *waits) error {
	roots := s.files
	if roots == nil {
		list, err := os.ReadDir(mnt)
		if err != nil {
			return err
		}
		for _, e := range list {
			roots = append(roots, e.Name())
		}
	}
	if s.own {
		roots = roots[reader%len(roots):][:1]
	}
	for i := range roots {
		root := filepath.Join(mnt, roots[(i+reader)%len(roots)])
		began := time.Now() // of what WalkDir does before it calls
		err := filepath.WalkDir(root, func(name string, e iofs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil || e.IsDir():
			case s.statted:
				_, _ = e.Info()
			default:
				readStart(name, cmp.Or(s.start, 64*mib))
			}
			if filepath.Base(root) == ordinary {
				times.add(time.Since(began))
			}
			began = time.Now()
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// waits are how long the reads of ordinary files took, and the listings between them.
type waits struct {
	mu  sync.Mutex
	all []time.Duration
}

func (w *waits) add(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, d)
}

// print tells of them, if there are any.
func (w *waits) print() {
	if n := len(w.all); n > 0 {
		slices.Sort(w.all)
		fmt.Printf("%d ordinary reads: half within %v, 99 %% within %v, longest %v\n", n, w.all[n/2], w.all[n*99/100], w.all[n-1])
	}
}

// readStart reads the first bytes of a file.
func readStart(name string, n int64) {
	f, err := os.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = io.CopyN(io.Discard, f, n)
}

// manyOf returns what makes n files.
func manyOf(pattern string, n int, write func(w io.Writer, i int) error) func(dir string) error {
	return func(dir string) error {
		for i := range n {
			if err := create(filepath.Join(dir, fmt.Sprintf(pattern, i)), func(w io.Writer) error { return write(w, i) }); err != nil {
				return err
			}
		}
		return nil
	}
}

// create makes a file of what write writes.
func create(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(write(w), w.Flush(), f.Close())
}

// noise returns bytes that compress to about a half.
func noise(n, seed int) []byte {
	random := rand.New(rand.NewPCG(1, uint64(seed)))
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[random.IntN(16)]
	}
	return b
}

// longLog is a NetHack log with a line of 300 MB of zeroes.
func longLog(w io.Writer, i int) error {
	if _, err := io.WriteString(w, logHead(i)); err != nil {
		return err
	}
	zeroes := make([]byte, mib)
	for range 300 {
		if _, err := w.Write(zeroes); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "\nQ\n")
	return err
}

// logHead is the three lines that a log begins with.
func logHead(i int) string {
	second := fmt.Sprintf("%78s\n", "a game of no moves")
	return "NHGAME done 00000000 4.003.000\n" + second + fmt.Sprintf("%x 0 0 UGxheWVy Arc Hum Mal Neu\n", 1<<50+i)
}

// windowSize is how large the windows of zstd frames are, in MiB.
const windowSize = 64

// wideTar is a tar in a zstd frame that asks for such a window.
func wideTar(w io.Writer, i int) error {
	z, err := zstd.NewWriter(w, zstd.WithWindowSize(windowSize*mib), zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	return errors.Join(writeTar(z, i, 60), z.Close())
}

// writeTar writes a tar of files of 1 MiB.
func writeTar(w io.Writer, seed, files int) error {
	for i := range files {
		if err := tarFile(w, fmt.Sprintf("f%02d.txt", i), noise(mib, seed*files+i)); err != nil {
			return err
		}
	}
	_, err := w.Write(make([]byte, 1024))
	return err
}
