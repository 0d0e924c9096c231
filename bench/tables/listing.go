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

// A listed is a listing of tables, and one of as many plain files in as many directories, which is its floor.
type listed struct{ name, pattern, plain, aim string }

// list lists the tables of many recordings, whose indexes are on disk.
func list(ctx context.Context, program harness.Program, dir string) error {
	if *recordings == 0 {
		return nil
	}
	source, plain, mnt := filepath.Join(dir, "many"), filepath.Join(dir, "plain"), filepath.Join(dir, "mnt")
	if err := errors.Join(makeMany(source), makePlain(plain)); err != nil {
		return err
	}
	if messages, err := program.Run(ctx, nil, "index", source); err != nil {
		return fmt.Errorf("index: %w\n%s", err, messages)
	}
	for _, l := range []listed{
		{"ls -l of a table of all", "tables/teehistorian/positions/*", "table/*", " (aim: 2000)"},
		{"ls -l of each tables/", "*/*/tables", "each/*/*/tables", ""},
	} {
		var took [2][]time.Duration
		for i, of := range []struct{ source, name, pattern, aim string }{{plain, "  of plain files", l.plain, ""}, {source, l.name, l.pattern, l.aim}} {
			d, err := program.Start(ctx, of.source, mnt)
			if err != nil {
				return err
			}
			took[i], err = listing(ctx, d, mnt, of.name, of.pattern, of.aim)
			if err := errors.Join(err, d.Stop()); err != nil {
				return err
			}
		}
		for i, when := range passes {
			fmt.Printf("%s %s: %.2f of the processor time of plain files\n", l.name, when, float64(took[1][i])/float64(took[0][i]))
		}
	}
	return nil
}

// makePlain makes as many files as the recordings have tables, and where these are: of one table in table, of all in each.
func makePlain(dir string) error {
	for i := range *recordings {
		folder, name := fmt.Sprintf("%03d", i/1000), fmt.Sprintf("%05d.teehistorian", i)
		files := []string{filepath.Join("table", folder, name+".parquet")}
		for _, table := range []string{"events", "finishes", "inputs", "players", "positions"} {
			files = append(files, filepath.Join("each", folder, name+".dir", "tables", table+".parquet"))
		}
		for _, file := range files {
			file = filepath.Join(dir, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, nil, 0o666)); err != nil {
				return err
			}
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

// passes are how often a listing is made.
var passes = []string{"first", "again"}

// listing lists what matches a pattern, and returns the processor time of the server for each pass.
func listing(ctx context.Context, d *harness.Daemon, mnt, name, pattern, aim string) (took []time.Duration, err error) {
	for _, when := range passes {
		before, err := usedBy(d, mnt)
		if err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, "sh", "-c", "ls -l "+pattern)
		cmd.Dir, cmd.Stderr = mnt, os.Stderr
		start := time.Now()
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("ls: %w", err)
		}
		wall := time.Since(start)
		after, err := usedBy(d, mnt)
		if err != nil {
			return nil, err
		}
		took = append(took, after.cpu-before.cpu)
		fmt.Printf("%-24s %7.1f ms%s %s, server %.0f ms of processor time, %d files, %d bytes read of recordings (aim: 0)\n", name, ms(wall), aim,
			when, ms(after.cpu-before.cpu), bytes.Count(out, []byte(".parquet\n")), after.read-before.read)
	}
	return took, nil
}
