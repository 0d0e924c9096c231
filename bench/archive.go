//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"

	"recfs/bench/internal/harness"
	"recfs/bench/internal/packing"
)

var packed = flag.String("packed", "", "archive: compress each recording, by this extension")

// largest is how large samples are of which many recordings are made.
const largest = 40_000

// measureArchive measures an archive of very many small recordings, each process within the memory
// that is promised.
func measureArchive(ctx context.Context, b *bench) error {
	n, archive := cmp.Or(*count, 20_000), b.path("archive")
	c, err := packing.Of(*packed)
	if err != nil {
		return err
	}
	if err := packing.Many(ctx, archive, *source, n, largest, c); err != nil {
		return err
	}
	err = b.mounted(ctx, archive, func(d *harness.Daemon, mnt string) error {
		for _, o := range []struct{ what, flags string }{{"ls", ""}, {"ls again", ""}, {"ls -l", "-l"}, {"ls -l again", "-l"}} {
			if err := compare(o.what, "", d, ls(ctx, mnt, o.flags), ls(ctx, archive, o.flags)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, o := range []struct{ name, aim string }{
		{"index", ""}, {"index", "again 0.02 of the first, if compressed"}, {"find", ""}, {"find", ""},
	} {
		if err := compare("recfs "+o.name, o.aim, nil, b.command(ctx, o.name, archive), nil); err != nil {
			return err
		}
	}
	return b.mounted(ctx, archive, func(d *harness.Daemon, mnt string) error { return catalogue(ctx, d, mnt, n) })
}

// command runs recfs over an archive that may have damaged samples.
func (b *bench) command(ctx context.Context, name, archive string) func() error {
	return func() error {
		o := b.program.Run(ctx, name, archive)
		return errors.Join(o.Err, b.promised("recfs "+name, o.Peak))
	}
}

// catalogue measures what a mount shows of all recordings, whose indexes are there.
func catalogue(ctx context.Context, d *harness.Daemon, mnt string, n int) error {
	for _, o := range []struct{ what, line, aim string }{
		{"recordings.jsonl", fmt.Sprintf("test $(wc -l <recordings.jsonl) = %d", n), ""},
		{"recordings.jsonl again", "cat recordings.jsonl >/dev/null", ""},
		{"recordings.parquet", "cat recordings.parquet >/dev/null", ""},
		{"ls -l of a table of all", "ls -l tables/teehistorian/positions >/dev/null", "2000 for 20,000"},
		{"ls -l of a table of all again", "ls -l tables/teehistorian/positions >/dev/null", "2000 for 20,000"},
		{"header.json of all", "cat */header.json >/dev/null", "1 a recording"},
		{"index.json of all", "cat */index.json >/dev/null", "1 a recording"},
		{"events.jsonl of all", "cat */events.jsonl >/dev/null", "1 a recording"},
		{"ls -l of each tables/", "ls -l */tables >/dev/null", ""},
	} {
		line := "ulimit -s unlimited; " + o.line
		if o.line[:3] == "cat" || o.line[:2] == "ls" {
			line += " 2>/dev/null || :" // of a damaged sample there is less
		}
		if err := compare(o.what, o.aim, d, func() error { return shell(ctx, mnt, line) }, nil); err != nil {
			return err
		}
	}
	read, err := harness.ReadFile(filepath.Join(mnt, "recordings.jsonl"))
	note("recordings.jsonl", "%d bytes", read)
	return err
}
