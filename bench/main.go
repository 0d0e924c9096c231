//go:build linux

// Command bench measures recfs against a floor: the least that the same work takes, in the same run
// on the same machine.
//
//	go run ./bench CASE... [-recfs /tmp/recfs] [-n 1000] [-size 64] [-rounds 3]
//
// Without a case it lists them. A row has what was measured by the clock and of the processors, its
// floor, the ratio of both (from 1 on recfs takes longer), and the aim. Of several rounds, in which
// recfs and its floor take turns, the best counts. `taskset -c 0 go run ./bench mount` has server
// and client on one processor. What needs no mount is measured by the benchmarks of the packages.
package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"

	"recfs/bench/internal/harness"
)

// A benchCase is something to measure.
type benchCase struct {
	name, about string
	run         func(context.Context, *bench) error
}

var cases = []benchCase{
	{"mount", "list, find -size, grep and cat, against a filesystem on go-fuse alone (-n files, -size of raw)", measureMount},
	{"attributes", "ls -l of ticks/ and states/, against as many files of known sizes (-size)", measureAttributes},
	{"archive", "very many small recordings: listings, index, find, catalogue, tables, against the source (-n)", measureArchive},
	{"containers", "recordings in tar and zip, against ratarmount (-n recordings)", measureContainers},
	{"images", "images of maps as PNG, against twmap (-maps DIR, -n maps)", measureImages},
	{"tables", "questions of DuckDB, against the same table on disk; and of lines/ (-python, -size)", measureTables},
	{"walk", "the functions that one read runs beyond an idle mount (-v lists them)", measureWalk},
}

func main() {
	harness.Main("bench", func(ctx context.Context, dir, recfs string) error {
		if flag.NArg() == 0 {
			for _, c := range cases {
				fmt.Printf("%-12s %s\n", c.name, c.about)
			}
		}
		for _, name := range flag.Args() {
			i := slices.IndexFunc(cases, func(c benchCase) bool { return c.name == name })
			if i < 0 {
				return fmt.Errorf("there is no case %s", name)
			}
			if err := run(ctx, cases[i], dir, recfs); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
}

func run(ctx context.Context, c benchCase, parent, recfs string) error {
	return harness.InTemp(parent, func(dir string) error {
		fmt.Printf("%s\n%-38s %11s %11s %11s %11s %7s %7s\n", c.about, c.name, "ms", "processor", "floor: ms", "processor", "ratio", "proc.")
		return c.run(ctx, &bench{dir: dir, program: harness.Program{
			Binary: recfs, Cache: filepath.Join(dir, "cache"), Flags: []string{"--cache-mem", fmt.Sprintf("%dMiB", *budget)},
		}})
	})
}
