//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"recfs/bench/internal/harness"
)

var (
	count  = flag.Int("n", 0, "how many files, recordings or reads (0: as many as the case has by default)")
	size   = flag.Int64("size", 0, "of the recordings that are made, in MB (0: as large as the case has by default)")
	rounds = flag.Int("rounds", 3, "how often to do everything; the best counts")
	budget = flag.Int64("budget", 32, "of the cache, in MiB")
	source = flag.String("source", "testdata/archive", "where the samples are")
)

// A bench is one run of a case.
type bench struct {
	dir     string // which it may fill
	program harness.Program
}

// path returns that of a file of this run.
func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// mounted does work with a fresh mount of a source, and fails if its process took more memory than
// is promised.
func (b *bench) mounted(ctx context.Context, source string, work func(d *harness.Daemon, mnt string) error) error {
	mnt := b.path("mnt")
	peak, err := b.program.Mount(ctx, source, mnt, func(d *harness.Daemon) error { return work(d, mnt) })
	return errors.Join(err, b.promised("the mount", peak))
}

// promised fails if the highest resident size of a process, in KiB, is more than the budget and 64
// MiB.
func (b *bench) promised(what string, peak int) error {
	if int64(peak>>10) > *budget+64 {
		return fmt.Errorf("%s took %d MiB, more than the %d that are promised", what, peak>>10, *budget+64)
	}
	return nil
}

// best is the least cost of some runs.
type best harness.Cost

func (b *best) add(c harness.Cost) {
	if b.Clock == 0 {
		*b = best(c)
	}
	b.Clock, b.CPU = min(b.Clock, c.Clock), min(b.CPU, c.CPU)
}

// timed measures work, and what it uses of the processors beside this process and its children.
func timed(work func() error, used ...func() (time.Duration, error)) (harness.Cost, error) {
	return harness.Measure(work, append(used, harness.CPU)...)
}

// compare prints the row of work in a process that may be nil, and of its floor, which may be nil,
// once each.
func compare(what, aim string, d *harness.Daemon, work, floor func() error) (err error) {
	var took, base harness.Cost
	if d == nil {
		took, err = timed(work)
	} else {
		took, err = timed(work, d.CPU)
	}
	if err == nil && floor != nil {
		base, err = timed(floor)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	show(what, aim, best(took), best(base))
	return nil
}

// show prints a row. A floor of no time is none.
func show(what, aim string, took, floor best) {
	fmt.Printf("%-38s %11.1f %11.1f", what, ms(took.Clock), ms(took.CPU))
	if floor.Clock > 0 {
		fmt.Printf(" %11.1f %11.1f %7.2f %7.2f", ms(floor.Clock), ms(floor.CPU), ratio(took.Clock, floor.Clock), ratio(took.CPU, floor.CPU))
	}
	if aim != "" {
		fmt.Printf("  aim: %s", aim)
	}
	fmt.Println()
}

// note prints the row of something that is no time.
func note(what, format string, args ...any) {
	fmt.Printf("%-38s "+format+"\n", append([]any{what}, args...)...)
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// ls lists a directory, with the attributes of its entries where flags ask for them.
func ls(ctx context.Context, dir, flags string) func() error {
	return func() error { return shell(ctx, dir, "ls -f "+flags+" >/dev/null") }
}

// shell runs a command in a directory. This process cannot go there, as it may be the one that
// serves it.
func shell(ctx context.Context, dir, line string) error {
	return harness.Command(ctx, "sh", "-c", `cd "$0" && eval "$1"`, dir, line)
}

// sizeOf is how many bytes the files below a directory have.
func sizeOf(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
