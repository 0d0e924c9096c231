//go:build linux

package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"recfs/bench/internal/harness"
	"recfs/cache"
	"recfs/formats"
	"recfs/formats/recordings"
	"recfs/formats/teehistorian"
	"recfs/fs"
	"recfs/nodes"
)

// openTicks returns the directory ticks of a recording, its index made.
func openTicks(ctx context.Context, recording []byte) (nodes.Dir, func(), error) {
	c := cache.New(256<<20, nil)
	src := formats.BytesInput("sample.teehistorian", recording, time.Now())
	o, err := recordings.OpenOne(ctx, recordings.Source{Format: &teehistorian.Format, Input: src}, c, slog.Default())
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	e, err := nodes.Lookup(ctx, o.Dir, "ticks")
	if err == nil {
		_, err = e.Dir.Len(ctx)
	}
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	return e.Dir, c.Close, nil
}

// copyOf returns a directory of the same files in memory.
func copyOf(ctx context.Context, dir nodes.Dir) (nodes.Dir, error) {
	n, err := dir.Len(ctx)
	if err != nil {
		return nil, err
	}
	entries := make([]nodes.Entry, n)
	for i := range entries {
		e, err := dir.At(ctx, i)
		if err != nil {
			return nil, err
		}
		b, err := nodes.ReadAll(ctx, e.File)
		if err != nil {
			return nil, err
		}
		entries[i] = nodes.Entry{Name: e.Name, File: nodes.Bytes(b)}
	}
	return nodes.List(entries...), nil
}

// grepMounted mounts dir afresh, greps all of it, and returns the processor time that server and
// grep took.
func grepMounted(tmp string, dir nodes.Dir) (time.Duration, error) {
	mnt := filepath.Join(tmp, "grep")
	if err := os.MkdirAll(mnt, 0o777); err != nil {
		return 0, err
	}
	cost, err := harness.Measure(func() error {
		server, err := fs.Mount(mnt, dir, fs.Options{})
		if err != nil {
			return err
		}
		err = exec.Command("grep", "-rc", "no such text", mnt).Run()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 { // nothing found
			err = nil
		}
		return errors.Join(err, server.Unmount())
	}, harness.CPU)
	return cost.CPU, err
}
