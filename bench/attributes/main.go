//go:build linux

// Command attributes measures ls -l, which wants the size of every file, in the directories of a recording that have
// a file for each tick or state. The floor is ls -l of as many files of known sizes, in the same run; ls without
// attributes shows what the names alone take. All of them run in the directory: with a path to it each question about
// a file asks for the recording on the way, too, as long as --entry-timeout is 0.
//
//	go run ./bench/attributes [-recfs /tmp/recfs] [-size 80] [-hcrp FILE] [-nethack FILE]
//
// The teehistorian recording is made of a sample: its header, its records many times, and FINISH. Of a NetHack log that is
// given what follows its header is written as many times as it takes, too. A long HCRP recording must be given.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"recfs/bench/internal/harness"
	"recfs/fs"
	"recfs/nodes"
)

var (
	size   = flag.Int64("size", 12, "size of the recordings that are made, in MB")
	sample = flag.String("sample", "testdata/archive/teehistorian/busy-20.1.teehistorian.xz", "what the teehistorian recording is made of")

	given = map[string]*string{
		"long.hcrp": flag.String("hcrp", "../shared/recordings/hcrp/run-long.hcrp", "a HCRP recording; left out if it is not there"),
		nethack:     flag.String("nethack", "../shared/recordings/nethack/medium.nhgame", "a NetHack log; left out if it is not there"),
	}
)

// nethack is the name of the log that is made.
const nethack = "long.nhgame"

// aim is how long ls -l of 130,000 files may take.
const aim = time.Second

func main() { harness.Main("attributes", run) }

func run(ctx context.Context, dir, recfs string) error {
	archive := filepath.Join(dir, "archive")
	list, err := writeArchive(archive)
	if err != nil {
		return err
	}
	program := harness.Program{Binary: recfs, Cache: filepath.Join(dir, "cache")}
	if messages, err := program.Run(ctx, nil, "index", archive); err != nil {
		return fmt.Errorf("%w\n%s", err, messages)
	}
	for _, name := range list {
		for _, series := range []string{"ticks", "states"} {
			if err := measure(ctx, program, archive, filepath.Join(dir, "mnt"), filepath.Join(name, series)); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeArchive makes the archive, and returns the names of its recordings.
func writeArchive(dir string) ([]string, error) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	records, err := harness.ReadXZ(*sample)
	if err != nil {
		return nil, err
	}
	list := []string{"long.teehistorian"}
	if _, err := harness.WriteLong(filepath.Join(dir, list[0]), records, *size*1e6); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		b, err := os.ReadFile(*given[name])
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if name == nethack {
			b = lengthen(b, *size*1e6)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o666)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, name)
	}
	return list, nil
}

// lengthen returns a log with what stands behind its three header lines as many times as it takes to have size bytes.
func lengthen(log []byte, size int64) []byte {
	body := log[:bytes.LastIndexByte(log, '\n')+1]
	for range 3 {
		_, body, _ = bytes.Cut(body, []byte{'\n'})
	}
	for len(body) > 0 && int64(len(log)) < size {
		log = append(log, body...)
	}
	return log
}

// measure lists one directory of a fresh mount, and as many files of the floor.
func measure(ctx context.Context, program harness.Program, archive, mnt, name string) error {
	daemon, err := program.Start(ctx, archive, mnt)
	if err != nil {
		return err
	}
	dir := filepath.Join(mnt, name)
	var long harness.Cost
	var files []os.DirEntry
	names, err := list(ctx, dir, nil, harness.CPU, daemon.CPU) // reads the index, too
	if err == nil {
		long, err = list(ctx, dir, []string{"-l"}, harness.CPU, daemon.CPU)
	}
	if err == nil {
		files, err = os.ReadDir(dir)
	}
	peak, peakErr := daemon.Number("status", "VmHWM")
	if err := errors.Join(err, peakErr, daemon.Stop()); err != nil {
		return err
	}
	floor, err := measureFloor(ctx, mnt, len(files))
	if err != nil {
		return err
	}
	scaled := time.Duration(float64(long.Clock) * 130_000 / float64(len(files)))
	fmt.Printf("%-24s %6d files: ls %v, ls -l %v, floor %v; of the processors %v, %v, %v, ratio to the floor %.1f; 130,000 files in %v (aim %v), %d KiB\n",
		name, len(files), round(names.Clock), round(long.Clock), round(floor.Clock), round(names.CPU), round(long.CPU), round(floor.CPU),
		long.CPU.Seconds()/floor.CPU.Seconds(), round(scaled), aim, peak)
	return nil
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }

// list runs ls in a directory. used counts the processor time of who serves it.
func list(ctx context.Context, dir string, args []string, used ...func() (time.Duration, error)) (harness.Cost, error) {
	return harness.Measure(func() error {
		// A shell goes there. This process cannot between fork and exec, as it may be the one that serves the directory.
		shell := append([]string{"-c", `cd "$0" && exec ls "$@"`, dir}, args...)
		return exec.CommandContext(ctx, "sh", shell...).Run()
	}, used...)
}

// measureFloor lists n files of known sizes, which this process serves.
func measureFloor(ctx context.Context, mnt string, n int) (harness.Cost, error) {
	file := func(n int64) nodes.File {
		return nodes.Sized(5000+n%1000, func(context.Context) ([]byte, error) { return nil, errors.ErrUnsupported })
	}
	tree := nodes.List(nodes.Entry{Name: "files", Dir: &nodes.Series{Width: 8, Suffix: ".json", N: n, File: file}})
	server, err := fs.Mount(mnt, tree, fs.Options{FsName: "bench"})
	if err != nil {
		return harness.Cost{}, err
	}
	took, err := list(ctx, filepath.Join(mnt, "files"), []string{"-l"}, harness.CPU)
	return took, errors.Join(err, server.Unmount())
}
