// Command butter measures Echo VR recordings: a generated match of 18,000 frames of 8 players, in
// the process and through a mount, each against a floor measured in the same run on the same
// machine.
//
//	go run ./bench/butter [-rounds 3]
//
// Rates are per second of processor time, which a busy machine changes least; a mount counts the
// time of the server.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"recfs/bench/internal/harness"
)

const frames = 18000

var rounds = flag.Int("rounds", 3, "how often to do everything; the best counts")

func main() {
	harness.Main("butter", func(ctx context.Context, dir, recfs string) error {
		if err := inProcess(ctx); err != nil {
			return err
		}
		return mounted(ctx, dir, recfs)
	})
}

// inProcess runs the benchmarks of the package on one processor.
func inProcess(ctx context.Context) error {
	results, err := harness.Benchmarks(ctx, []string{"GOMAXPROCS=1"}, "./formats/butter",
		"Decode|Lines|Text|Floor", "-benchtime", "1x", "-count", strconv.Itoa(*rounds))
	if err != nil {
		return err
	}
	best := map[string]float64{}
	for _, r := range results {
		best[r.Name] = max(best[r.Name], r.Values["frames/cpu-s"])
	}
	show := func(what, name, floor string, want float64) {
		fmt.Printf("%-34s %9.0f frames/cpu-s (wanted %6.0f)  %5.2f of the floor: %s\n", what, best[name], want, best[name]/best[floor], floor)
	}
	show("decode", "Decode", "FloorGunzip", 60000)
	show("JSON lines", "Lines", "FloorFloats", 15000)
	show(".echoreplay stream", "Text", "FloorFloats", 12000)
	return nil
}

// mounted measures the same through a mount.
func mounted(ctx context.Context, dir, recfs string) error {
	source := filepath.Join(dir, "source")
	if err := os.Mkdir(source, 0o777); err != nil {
		return err
	}
	match := filepath.Join(source, "match.butter")
	if err := harness.Command(ctx, []string{"RECFS_BENCH_MATCH=" + match}, "go", "test", "-run", "TestWriteMatch", "./formats/butter"); err != nil {
		return err
	}
	program := harness.Program{Binary: recfs, Cache: filepath.Join(dir, "cache"), Flags: []string{"--cache-mem", "64MiB"}}
	mount := filepath.Join(dir, "mount")
	for round := range *rounds {
		d, err := program.Start(ctx, source, mount)
		if err != nil {
			return err
		}
		fmt.Printf("mounted, round %d\n", round)
		if err := errors.Join(measure(d, filepath.Join(mount, "match.butter")), d.Stop()); err != nil {
			return err
		}
	}
	return nil
}

// measure reads the mount of a server that has just started.
func measure(d *harness.Daemon, tree string) error {
	if _, err := os.Stat(tree); err != nil {
		return err
	}
	for _, what := range []struct{ name, pattern string }{
		{"first look, with the index", "index.json"},
		{"one frame, cold", "ticks/00012345.json"},
		{"lines/", "lines/*"},
		{".echoreplay", "export/match.echoreplay"},
	} {
		if err := measureReads(d, what.name, filepath.Join(tree, what.pattern)); err != nil {
			return err
		}
	}
	peak, err := d.Number("status", "VmHWM")
	if err != nil {
		return err
	}
	fmt.Printf("  greatest resident size %d kB with 64 MiB of cache\n", peak)
	return nil
}

// measureReads reads the files that match pattern.
func measureReads(d *harness.Daemon, name, pattern string) error {
	var total int64
	cost, err := harness.Measure(func() error {
		files, err := filepath.Glob(pattern)
		for _, file := range files {
			n, readErr := harness.ReadFile(file)
			total, err = total+n, cmp.Or(err, readErr)
		}
		return err
	}, d.CPU)
	if err != nil {
		return err
	}
	wall, cpu := cost.Clock, cost.CPU
	fmt.Printf("  %-28s %8.1f MB  wall %8.1f ms  server %6.0f ms", name, float64(total)/1e6, ms(wall), ms(cpu))
	if total > 1<<20 {
		fmt.Printf("  %.0f frames/s, %.0f MB/s of wall; %.0f frames/s of server", frames/wall.Seconds(), float64(total)/1e6/wall.Seconds(), frames/cpu.Seconds())
	}
	fmt.Println()
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }
