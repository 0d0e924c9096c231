//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"recfs/bench/internal/harness"
)

// list lists the tables of many recordings, whose indexes are on disk.
func list(ctx context.Context, program harness.Program, dir string) error {
	if *recordings == 0 {
		return nil
	}
	source, mnt := filepath.Join(dir, "many"), filepath.Join(dir, "mnt")
	if err := makeMany(source); err != nil {
		return err
	}
	if messages, err := program.Run(ctx, nil, "index", source); err != nil {
		return fmt.Errorf("index: %w\n%s", err, messages)
	}
	for _, what := range []struct{ name, pattern, aim string }{
		{"ls -l of a table of all", "tables/teehistorian/positions/*", " (aim: 2000)"},
		{"ls -l of each tables/", "*/*/tables", ""},
	} {
		d, err := program.Start(ctx, source, mnt)
		if err != nil {
			return err
		}
		if err := errors.Join(listing(ctx, d, mnt, what.name, what.pattern, what.aim), d.Stop()); err != nil {
			return err
		}
	}
	return nil
}

// makeMany makes the recordings, a thousand in a folder.
func makeMany(source string) error {
	for i := range *recordings {
		folder := filepath.Join(source, fmt.Sprintf("%03d", i/1000))
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		if err := copyFile(filepath.Join(folder, fmt.Sprintf("%05d.teehistorian", i)), *small); err != nil {
			return err
		}
	}
	return nil
}

// listing lists what matches a pattern, twice.
func listing(ctx context.Context, d *harness.Daemon, mnt, name, pattern, aim string) error {
	for _, when := range []string{"first", "again"} {
		before, err := usedBy(d, mnt)
		if err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, "sh", "-c", "ls -l "+pattern)
		cmd.Dir, cmd.Stderr = mnt, os.Stderr
		start := time.Now()
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("ls: %w", err)
		}
		wall := time.Since(start)
		after, err := usedBy(d, mnt)
		if err != nil {
			return err
		}
		fmt.Printf("%-24s %7.1f ms%s %s, server %.0f ms of processor time, %d tables of %d recordings, %d bytes of them read (aim: 0)\n", name, ms(wall), aim,
			when, ms(after.cpu-before.cpu), bytes.Count(out, []byte(".parquet\n")), *recordings, after.read-before.read)
	}
	return nil
}
