// Command archive measures an archive of very many small recordings: the
// first listing of its mount and the next, stat of all, the index of all, and
// what recfs find and recordings.jsonl take the first and the second time.
// The floor of each is the same work on the source directory itself: the
// program prints both and their ratio.
//
// With -packed .xz (or .gz, .zst, .bz2) each recording is compressed, and it measures what of them is served
// from their indexes.
//
//	go run ./bench/archive [-recfs /tmp/recfs] [-n 20000] [-packed .xz]
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
	binary = harness.RecfsFlag(flag.CommandLine)
	count  = flag.Int("n", 20_000, "recordings in the archive")
	limit  = flag.Int64("largest", 40_000, "use samples of up to this many bytes")
	source = flag.String("source", "testdata/archive", "where the samples are")
	packed = flag.String("packed", "", "compress each recording, by this extension, and measure what its index is worth")
)

func main() {
	harness.Main("archive", func(ctx context.Context) error {
		return harness.InTemp("", func(dir string) error { return run(ctx, dir) })
	})
}

// A bench is one archive and its mount.
type bench struct {
	program      harness.Program
	archive, mnt string
}

func run(ctx context.Context, dir string) error {
	recfs, err := harness.Recfs(ctx, *binary, dir)
	if err != nil {
		return err
	}
	b := &bench{
		harness.Program{Binary: recfs, Cache: filepath.Join(dir, "cache")},
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
	if err := b.timed("recfs index", b.command(ctx, "index"), nil); err != nil {
		return err
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
		_, err := b.program.Run(ctx, nil, name, b.archive)
		if errors.Is(err, harness.ErrDamaged) {
			return nil // a damaged sample
		}
		return err
	}
}

func (b *bench) mounted(ctx context.Context, work func() error) error {
	return b.program.Mounted(ctx, b.archive, b.mnt, work)
}

func (b *bench) listings() error {
	for _, what := range []string{"first ls", "second ls"} {
		err := b.timed(what, func() error { return list(b.mnt, false) }, func() error { return list(b.archive, false) })
		if err != nil {
			return err
		}
	}
	for _, what := range []string{"first ls -l", "second ls -l"} {
		err := b.timed(what, func() error { return list(b.mnt, true) }, func() error { return list(b.archive, true) })
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
	return nil
}

// list lists a directory, and with stat looks at every entry, too.
func list(dir string, stat bool) error {
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
	if n != *count {
		return fmt.Errorf("%d entries listed, want %d", n, *count)
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
