package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"recfs/bench/internal/harness"
)

// rows are what is measured of a container, as much of each phase: the first mount, the second, and reads
// from that.
var rows = [...]string{
	"mount and list, no index: ms", "  processor: ms", "  resident: MiB", "  at most: MiB",
	"mount and list, index: ms", "  processor: ms", "  resident: MiB", "  at most: MiB",
	"random reads: ms", "  processor: ms", "  resident: MiB", "  at most: MiB",
}

// figures are the values of the rows; none: nothing was measured.
type figures []float64

// least returns the smaller one of each value.
func (f figures) least(g figures) figures {
	for i, v := range f {
		g[i] = min(v, g[i])
	}
	return g
}

// A tool mounts containers.
type tool struct {
	name  string
	start func(ctx context.Context, archive, mnt, index string) (*harness.Daemon, error)
	stop  func(ctx context.Context, d *harness.Daemon, mnt string) error
	file  func(name string) string // where the bytes of a member are below the mount
}

func recfsTool(binary string) tool {
	return tool{
		"recfs",
		func(ctx context.Context, archive, mnt, index string) (*harness.Daemon, error) {
			return harness.Program{Binary: binary, Cache: index}.Start(ctx, archive, mnt)
		},
		func(_ context.Context, d *harness.Daemon, _ string) error { return d.Stop() },
		func(name string) string { return filepath.Join(name, "raw") },
	}
}

func ratarmount(binary string) tool {
	return tool{
		"ratarmount",
		func(ctx context.Context, archive, mnt, index string) (*harness.Daemon, error) {
			if err := os.MkdirAll(index, 0o777); err != nil {
				return nil, err
			}
			return harness.StartMount(ctx, mnt, binary, "-f", "--index-file", filepath.Join(index, "index.sqlite"), archive, mnt)
		},
		func(ctx context.Context, d *harness.Daemon, mnt string) error { // which fails at SIGTERM
			return cmp.Or(harness.Command(context.WithoutCancel(ctx), nil, "fusermount3", "-u", mnt), d.Wait())
		},
		func(name string) string { return name },
	}
}

// measure mounts an archive twice, without an index and with it, and lists it. What it holds is that of
// the directory plain.
func measure(ctx context.Context, t tool, plain, archive, dir string) (all figures, err error) {
	index, mnt := filepath.Join(dir, "index"), filepath.Join(dir, "mnt")
	if err := os.RemoveAll(index); err != nil {
		return nil, err
	}
	list := func() error { return list(plain, mnt) }
	for _, phases := range [][]func() error{{list}, {list, func() error { return read(t, plain, mnt) }}} {
		start := time.Now()
		d, err := t.start(ctx, archive, mnt, index)
		if err != nil {
			return nil, err
		}
		used, err := time.Duration(0), error(nil)
		for _, phase := range phases {
			err = cmp.Or(err, phase())
			took := time.Since(start)
			var f figures
			if err == nil {
				f, err = usage(d.Process, took, &used)
			}
			all, start = append(all, f...), time.Now()
		}
		if err := cmp.Or(err, t.stop(ctx, d, mnt)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// usage returns the figures of a phase that took so long. used is the processor time before it, and then
// after it.
func usage(p harness.Process, took time.Duration, used *time.Duration) (figures, error) {
	cpu, err := p.CPU()
	if err != nil {
		return nil, err
	}
	resident, err := p.Number("status", "VmRSS")
	if err != nil {
		return nil, err
	}
	most, err := p.Number("status", "VmHWM")
	f := figures{milliseconds(took), milliseconds(cpu - *used), float64(resident) / 1024, float64(most) / 1024}
	*used = cpu
	return f, err
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// list lists what is mounted and looks at every entry, as ls -l does. It is what the directory plain has.
func list(plain, mnt string) error {
	want, err := os.ReadDir(plain)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(mnt)
	if err != nil {
		return err
	}
	if len(entries) != len(want) {
		return fmt.Errorf("%d entries listed, want %d", len(entries), len(want))
	}
	for _, e := range entries {
		if _, err := os.Lstat(filepath.Join(mnt, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// read reads members in random order, the same each time.
func read(t tool, plain, mnt string) error {
	entries, err := os.ReadDir(plain)
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range *reads {
		name := entries[rnd.IntN(len(entries))].Name()
		want, err := os.Stat(filepath.Join(plain, name))
		if err != nil {
			return err
		}
		n, err := harness.ReadFile(filepath.Join(mnt, t.file(name)))
		if err != nil {
			return err
		}
		if n != want.Size() {
			return fmt.Errorf("%s has %d bytes, want %d", name, n, want.Size())
		}
	}
	return nil
}
