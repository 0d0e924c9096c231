//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"recfs/bench/internal/harness"
)

var (
	hcrpFile    = flag.String("hcrp", "../shared/recordings/hcrp/run-long.hcrp", "a long HCRP recording; left out if it is not there")
	nethackFile = flag.String("nethack", "../shared/recordings/nethack/medium.nhgame", "a NetHack log; left out if it is not there")
)

// longSample is what long teehistorian recordings are made of.
const longSample = "testdata/archive/teehistorian/busy-20.1.teehistorian.xz"

// longRecordings makes a directory of a teehistorian of so many bytes, and what there is of other
// formats.
func (b *bench) longRecordings(size int64) (dir string, names []string, err error) {
	dir = b.path("archive")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return "", nil, err
	}
	for _, r := range []struct{ name, from string }{
		{"long.teehistorian", longSample}, {"long.hcrp", *hcrpFile}, {"long.nhgame", *nethackFile},
	} {
		err := harness.WriteLong(filepath.Join(dir, r.name), r.from, size)
		switch {
		case err == nil:
			names = append(names, r.name)
		case !errors.Is(err, os.ErrNotExist):
			return "", nil, err
		}
	}
	return dir, names, nil
}

// measureAttributes compares ls -l of the directories that have a file for each tick or state with
// that of as many files of known sizes, which this process serves. All run in the directory: with a
// path to it each question about a file asks for the recording on the way, too.
func measureAttributes(ctx context.Context, b *bench) error {
	archive, names, err := b.longRecordings(cmp.Or(*size, 12) * 1e6)
	if err != nil {
		return err
	}
	if o := b.program.Run(ctx, "index", archive); o.Code != 0 {
		return fmt.Errorf("index: %v\n%s", o.Err, o.Stderr)
	}
	for _, name := range names {
		for _, series := range []string{"ticks", "states"} {
			if err := b.attributes(ctx, archive, filepath.Join(name, series)); err != nil {
				return fmt.Errorf("%s/%s: %w", name, series, err)
			}
		}
	}
	return nil
}

// attributes measures one directory.
func (b *bench) attributes(ctx context.Context, archive, name string) error {
	var names, long, floor best
	files := 0
	err := b.mounted(ctx, archive, func(d *harness.Daemon, mnt string) error {
		dir := filepath.Join(mnt, name)
		for _, o := range []struct {
			flags string
			took  *best
		}{{"", &names}, {"-l", &long}} { // the first one reads the index, too
			cost, err := timed(ls(ctx, dir, o.flags), d.CPU)
			if err != nil {
				return err
			}
			o.took.add(cost)
		}
		list, err := os.ReadDir(dir)
		files = len(list)
		return err
	})
	if err != nil {
		return err
	}
	err = served(b.path("mnt"), serveNodes(manyFiles(files)), func() error {
		cost, err := timed(ls(ctx, b.path("mnt"), "-l"))
		floor.add(cost)
		return err
	})
	show("ls "+name, "", names, best{})
	show("ls -l "+name, "", long, floor)
	note("", "%d files; 130,000 would take %.1f s (aim: 1)", files, long.Clock.Seconds()*130_000/float64(max(files, 1)))
	return err
}
