//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"recfs/bench/internal/harness"
	"recfs/fs"
	"recfs/nodes"
)

// operations are done twice on a fresh mount, so that the first time nothing is in the caches of
// the kernel.
var operations = []struct{ name, line string }{
	{"names", "cd files && ls -f >/dev/null"},
	{"find -size", "find files -size +100k"},
	{"grep -r", `grep -r '"tick":12,' files >/dev/null`},
	{"raw", "cat raw >/dev/null"},
}

// measureMount compares the mount of a tree with the floor, both served by this process.
func measureMount(ctx context.Context, b *bench) error {
	t := tree{files: cmp.Or(*count, 200_000), size: cmp.Or(*size, 1000) * 1e6}
	var err error
	if t.source, err = writeSource(b.path("raw"), t.size); err != nil {
		return err
	}
	defer t.source.Close()
	for _, o := range operations {
		var house, floor [2]best
		for range *rounds {
			for i, serve := range []func(string) (func() error, error){t.house, t.floor} {
				if err := t.twice(ctx, b.path("mnt"), o.line, serve, [...]*[2]best{&house, &floor}[i]); err != nil {
					return fmt.Errorf("%s: %w", o.name, err)
				}
			}
		}
		show(o.name+", cold", "", house[0], floor[0])
		show(o.name+", warm", "", house[1], floor[1])
	}
	return t.memory(ctx, b.path("mnt"))
}

// twice runs a command twice in a fresh mount.
func (t tree) twice(ctx context.Context, mnt, line string, serve func(string) (func() error, error), took *[2]best) error {
	if err := unix.Fadvise(int(t.source.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return err
	}
	return served(mnt, serve, func() error {
		for i := range took {
			cost, err := timed(func() error { return shell(ctx, mnt, line) })
			if err != nil {
				return err
			}
			took[i].add(cost)
		}
		return nil
	})
}

// memory prints how the resident memory grows while find asks for the sizes of all files.
func (t tree) memory(ctx context.Context, mnt string) error {
	return served(mnt, t.house, func() error {
		var resident [2]int
		for i := range resident {
			var err error
			if resident[i], err = harness.Process(os.Getpid()).Number("status", "VmRSS"); err != nil {
				return err
			}
			if err := shell(ctx, mnt, "find files -size +100k"); err != nil {
				return err
			}
		}
		note("find leaves behind", "%.1f MiB of %d files", float64(resident[1]-resident[0])/1024, t.files)
		return nil
	})
}

// served does work while something is mounted on mnt, which it makes.
func served(mnt string, serve func(string) (func() error, error), work func() error) error {
	if err := os.MkdirAll(mnt, 0o777); err != nil {
		return err
	}
	unmount, err := serve(mnt)
	if err != nil {
		return err
	}
	return errors.Join(work(), unmount())
}

// serveNodes mounts a tree of nodes as recfs does.
func serveNodes(dir nodes.Dir) func(string) (func() error, error) {
	return func(mnt string) (func() error, error) {
		server, err := fs.Mount(mnt, dir, fs.Options{FsName: "bench"})
		if err != nil {
			return nil, err
		}
		return server.Unmount, nil
	}
}

// writeSource makes a file that has no holes.
func writeSource(name string, size int64) (*os.File, error) {
	f, err := os.Create(filepath.Clean(name))
	if err != nil {
		return nil, err
	}
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(i * 7)
	}
	for left := size; left > 0 && err == nil; left -= int64(len(block)) {
		_, err = f.Write(block[:min(left, int64(len(block)))])
	}
	if err == nil {
		err = f.Sync()
	}
	return f, err
}
