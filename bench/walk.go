//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"recfs/bench/internal/harness"
)

var (
	sample = flag.String("sample", longSample, "walk: the recording")
	path   = flag.String("path", "busy-20.1.teehistorian.xz/ticks/00000301.json", "walk: the file to read, below the mount")
	list   = flag.Bool("v", false, "walk: list the functions")
)

// measureWalk follows one read through the code: it prints the functions that a mount runs to serve
// it, beyond those of a mount of which nothing is asked. Heads and indexes are on disk, and nothing
// is in memory.
func measureWalk(ctx context.Context, b *bench) error {
	dir := b.dir
	source := filepath.Join(dir, "source")
	if err := os.CopyFS(source, os.DirFS(filepath.Dir(*sample))); err != nil {
		return err
	}
	binary := filepath.Join(dir, "recfs")
	if err := harness.Command(ctx, "go", "build", "-cover", "-coverpkg=./...", "-o", binary, "./cmd/recfs"); err != nil {
		return err
	}
	w := walk{dir, source, harness.Program{Binary: binary, Cache: filepath.Join(dir, "cache")}}
	if err := os.Setenv("GOCOVERDIR", dir); err != nil { // what comes before counts nowhere
		return err
	}
	if o := w.program.Run(ctx, "index", source); o.Err != nil {
		return o.Err
	}
	idle, err := w.functions(ctx, "idle", func(string) error { return nil })
	if err != nil {
		return err
	}
	read, err := w.functions(ctx, "read", func(mnt string) error {
		_, err := harness.ReadFile(filepath.Join(mnt, *path))
		return err
	})
	if err != nil {
		return err
	}
	showWalk(read, idle)
	return nil
}

// A walk is a recording and the program that counts what of it runs.
type walk struct {
	dir, source string
	program     harness.Program
}

// functions returns those that run in a mount with which work does something.
func (w *walk) functions(ctx context.Context, name string, work func(mnt string) error) (map[string]bool, error) {
	counters, mnt := filepath.Join(w.dir, name), filepath.Join(w.dir, name+".mnt")
	if err := os.Mkdir(counters, 0o777); err != nil {
		return nil, err
	}
	if err := os.Setenv("GOCOVERDIR", counters); err != nil {
		return nil, err
	}
	if _, err := w.program.Mount(ctx, w.source, mnt, func(*harness.Daemon) error { return work(mnt) }); err != nil {
		return nil, err
	}
	profile := counters + ".txt"
	if err := harness.Command(ctx, "go", "tool", "covdata", "textfmt", "-i="+counters, "-o="+profile); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, "go", "tool", "cover", "-func="+profile).Output()
	return ran(string(out)), err
}

// ran returns the functions of which a statement ran, of lines of a place, a name and a percentage.
func ran(report string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(report) {
		if f := strings.Fields(line); len(f) == 3 && f[0] != "total:" && f[2] != "0.0%" {
			all[f[0]+" "+f[1]] = true // methods of one name stand on other lines
		}
	}
	return all
}

// showWalk prints how many functions of which packages ran in read alone.
func showWalk(read, idle map[string]bool) {
	packages, n := map[string][]string{}, 0
	for f := range read {
		if !idle[f] {
			pkg, place := filepath.Split(f)
			packages[pkg] = append(packages[pkg], place)
			n++
		}
	}
	fmt.Printf("%s: %d functions in %d packages\n", *path, n, len(packages))
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		fmt.Printf("%5d %s\n", len(packages[pkg]), pkg)
		slices.Sort(packages[pkg])
		for _, f := range packages[pkg] {
			if *list {
				fmt.Println("     ", f)
			}
		}
	}
}
