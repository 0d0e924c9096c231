//go:build linux

// Command archive measures an archive of very many small recordings: the
// first listing of its mount and the next, stat of all, the index of all, and
// what recfs find, recordings.jsonl, recordings.parquet and a listing of all
// tables of a kind take the first and the second time. The floor of each is the
// same work on the source directory itself: the program prints both and their
// ratio. Beside the highest resident size of each process it prints what is
// promised, the budget and 64 MiB, and fails if one is above that.
//
// With -packed .xz (or .gz, .zst, .bz2) each recording is compressed, and it measures what of them is served
// from their indexes.
//
//	go run ./bench/archive [-recfs /tmp/recfs] [-n 20000] [-budget 32] [-index=false] [-packed .xz]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"recfs/bench/internal/harness"
	"recfs/bench/internal/packing"
)

var (
	count  = flag.Int("n", 20_000, "recordings in the archive")
	limit  = flag.Int64("largest", 40_000, "use samples of up to this many bytes")
	source = flag.String("source", "testdata/archive", "where the samples are")
	packed = flag.String("packed", "", "compress each recording, by this extension, and measure what its index is worth")
	budget = flag.Int64("budget", 32, "of the cache, in MiB")
	index  = flag.Bool("index", true, "index all; without, the catalogue has what headers tell")
)

func main() { harness.Main("archive", run) }

// A bench is one archive and its mount.
type bench struct {
	program      harness.Program
	archive, mnt string
}

func run(ctx context.Context, dir, recfs string) error {
	b := &bench{
		harness.Program{Binary: recfs, Cache: filepath.Join(dir, "cache"), Flags: []string{"--cache-mem", fmt.Sprintf("%dMiB", *budget)}},
		filepath.Join(dir, "archive"), filepath.Join(dir, "mnt"),
	}
	c, err := compression()
	if err != nil {
		return err
	}
	if err := packing.Many(ctx, b.archive, *source, *count, *limit, c); err != nil {
		return err
	}
	if c != nil {
		return b.indexed(ctx)
	}
	fmt.Printf("%d recordings\n%-34s %10s %10s %8s\n", *count, "", "recfs", "source", "ratio")
	if err := b.mounted(ctx, b.listings); err != nil {
		return err
	}
	if *index {
		if err := b.timed("recfs index", b.command(ctx, "index"), nil); err != nil {
			return err
		}
	}
	for _, what := range []string{"recfs find, first", "recfs find, second"} {
		if err := b.timed(what, b.command(ctx, "find"), nil); err != nil {
			return err
		}
	}
	return b.mounted(ctx, b.catalogue)
}

func (b *bench) command(ctx context.Context, name string) func() error {
	return func() error {
		peak, err := b.program.Peak(ctx, name, b.archive)
		if err != nil && !errors.Is(err, harness.ErrDamaged) { // which is a damaged sample
			return err
		}
		return promised("recfs "+name, peak)
	}
}

// mounted does work while the archive is mounted.
func (b *bench) mounted(ctx context.Context, work func() error) error {
	d, err := b.program.Start(ctx, b.archive, b.mnt)
	if err != nil {
		return err
	}
	err = work()
	peak, peakErr := d.Number("status", "VmHWM")
	return errors.Join(err, peakErr, d.Stop(), promised("the mount", peak))
}

// promised prints the highest resident size of a process, in KiB, and fails if it is more than was promised.
func promised(what string, peak int) error {
	const mib, beside = 1024, 64
	fmt.Printf("%-34s %10d MiB of %d MiB\n", "peak of "+what, peak/mib, *budget+beside)
	if int64(peak/mib) > *budget+beside {
		return fmt.Errorf("%s took more than was promised", what)
	}
	return nil
}

func (b *bench) listings() error {
	for _, what := range []string{"first ls", "second ls"} {
		err := b.timed(what, func() error { return list(b.mnt, false, *count) }, func() error { return list(b.archive, false, *count) })
		if err != nil {
			return err
		}
	}
	for _, what := range []string{"first ls -l", "second ls -l"} {
		err := b.timed(what, func() error { return list(b.mnt, true, *count) }, func() error { return list(b.archive, true, *count) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) catalogue() error {
	for _, what := range []string{"recordings.jsonl, first", "recordings.jsonl, second"} {
		err := b.timed(what, func() error {
			content, err := os.ReadFile(filepath.Join(b.mnt, "recordings.jsonl"))
			if n := strings.Count(string(content), "\n"); err == nil && n != *count {
				return fmt.Errorf("recordings.jsonl has %d lines, want %d", n, *count)
			}
			return err
		}, nil)
		if err != nil {
			return err
		}
	}
	tables := filepath.Join(b.mnt, "tables/teehistorian/positions")
	for _, what := range []string{"ls -l of a table of all, first", "ls -l of a table of all, second"} {
		if err := b.timed(what, func() error { return list(tables, true, anyCount) }, nil); err != nil {
			return err
		}
	}
	return b.timed("recordings.parquet", func() error {
		_, err := harness.ReadFile(filepath.Join(b.mnt, "recordings.parquet"))
		return err
	}, nil)
}

// anyCount is for a directory of which it is not known how many entries it has.
const anyCount = -1

// list lists a directory of so many entries, and with stat looks at every entry, too.
func list(dir string, stat bool, want int) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	n := 0
	for {
		names, err := f.Readdirnames(1000)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		n += len(names)
		for _, name := range names {
			if !stat {
				break
			}
			if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	if n != want && want != anyCount {
		return fmt.Errorf("%d entries listed, want %d", n, want)
	}
	return nil
}

// timed prints how long work took and, where there is one, its floor.
func (b *bench) timed(what string, work, floor func() error) error {
	start := time.Now()
	if err := work(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	took := time.Since(start)
	if floor == nil {
		fmt.Printf("%-34s %10v\n", what, took.Round(time.Millisecond/10))
		return nil
	}
	start = time.Now()
	if err := floor(); err != nil {
		return fmt.Errorf("%s of the source: %w", what, err)
	}
	base := time.Since(start)
	fmt.Printf("%-34s %10v %10v %8.2f\n", what, took.Round(time.Millisecond/10), base.Round(time.Millisecond/10), float64(base)/float64(took))
	return nil
}
