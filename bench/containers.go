//go:build linux

package main

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"recfs/bench/internal/harness"
	"recfs/bench/internal/packing"
)

var (
	ratarmount = flag.String("ratarmount", "ratarmount", "containers: the program to compare with (pip install ratarmount)")
	kinds      = flag.String("kinds", "tar,zip,tar.gz,tar.bz2,tar.xz,tar.zst", "containers: their kinds")
)

// measureContainers mounts and lists recordings in one file of each kind, without an index and with
// that of the first mount, and reads some of them in random order. With -source
// testdata/archive/datafile/maps they are maps alone, of which the names do not say what they are.
func measureContainers(ctx context.Context, b *bench) error {
	tools := []tool{{"recfs", "raw", func(mnt, archive string) (*harness.Daemon, error) {
		return harness.Program{Binary: b.program.Binary, Cache: b.path("index")}.Start(ctx, archive, mnt)
	}}}
	if other, err := exec.LookPath(*ratarmount); err != nil {
		fmt.Println("there is no ratarmount to compare with:", err)
	} else {
		tools = append(tools, tool{"ratarmount", "", func(mnt, archive string) (*harness.Daemon, error) {
			return harness.StartMount(ctx, mnt, other, "-f", "--index-file", b.path("index/index.sqlite"), archive, mnt)
		}})
	}
	plain := b.path("plain")
	if err := packing.Many(ctx, plain, *source, cmp.Or(*count, 5000), largest, packing.Plain); err != nil {
		return err
	}
	for kind := range strings.SplitSeq(*kinds, ",") {
		archive := b.path("packed." + kind)
		if err := pack(ctx, plain, archive, kind); err != nil {
			return err
		}
		if err := b.container(ctx, tools, plain, archive, kind); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		if err := os.Remove(archive); err != nil {
			return err
		}
	}
	return nil
}

// A tool mounts containers.
type tool struct {
	name, file string // where the bytes of a member are below it
	start      func(mnt, archive string) (*harness.Daemon, error)
}

// What is measured of a container.
var phases = [...]string{"mount and list, no index", "mount and list, index", "random reads"}

// container prints the rows of one container.
func (b *bench) container(ctx context.Context, tools []tool, plain, archive, kind string) error {
	var took [2][len(phases)]best
	var peak [2]int
	for range *rounds {
		for i, t := range tools {
			if err := errors.Join(os.RemoveAll(b.path("index")), os.Mkdir(b.path("index"), 0o777)); err != nil {
				return err
			}
			for again := range 2 {
				kib, err := b.inContainer(ctx, t, plain, archive, took[i][again:2*again+1])
				if err != nil {
					return fmt.Errorf("%s: %w", t.name, err)
				}
				peak[i] = max(peak[i], kib)
			}
		}
	}
	for i, what := range phases {
		show(kind+": "+what, "ratio below 1", took[0][i], took[1][i])
	}
	note(kind+": at most", "%d MiB, %d", peak[0]>>10, peak[1]>>10)
	return nil
}

// inContainer mounts and lists a container, reads from it if there is a second cost to add, and
// returns the highest resident size of its process.
func (b *bench) inContainer(ctx context.Context, t tool, plain, archive string, took []best) (peak int, err error) {
	mnt := b.path("mnt")
	var d *harness.Daemon
	cost, err := harness.Measure(func() (err error) {
		if d, err = t.start(mnt, archive); err != nil {
			return err
		}
		return shell(ctx, mnt, "ls -l >/dev/null")
	})
	if d == nil {
		return 0, err
	}
	var cpuErr error
	cost.CPU, cpuErr = d.CPU()
	took[0].add(cost)
	if err = cmp.Or(err, cpuErr); err == nil && len(took) > 1 {
		cost, err = harness.Measure(func() error { return readMembers(t, plain, mnt) }, d.CPU)
		took[1].add(cost)
	}
	peak, peakErr := d.Number("status", "VmHWM")
	// ratarmount fails at SIGTERM.
	unmount := harness.Command(context.WithoutCancel(ctx), "fusermount3", "-u", mnt)
	return peak, cmp.Or(err, peakErr, unmount, d.Wait())
}

// readMembers reads members in random order, the same each time.
func readMembers(t tool, plain, mnt string) error {
	entries, err := os.ReadDir(plain)
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		name := entries[rnd.IntN(len(entries))].Name()
		want, err := os.Stat(filepath.Join(plain, name))
		if err != nil {
			return err
		}
		if n, err := harness.ReadFile(filepath.Join(mnt, name, t.file)); err != nil || n != want.Size() {
			return fmt.Errorf("%s has %d bytes, want %d: %w", name, n, want.Size(), err)
		}
	}
	return nil
}

// pack writes the files of dir as a container of a kind.
func pack(ctx context.Context, dir, archive, kind string) (err error) {
	f, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, f.Close()) }()
	if kind == "zip" {
		return packing.Zip(f, dir, zip.Deflate)
	}
	c, err := packing.Of(strings.TrimPrefix(kind, "tar"))
	return cmp.Or(err, packing.TarIn(ctx, f, dir, c))
}
