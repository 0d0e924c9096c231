// Command datafile measures how fast the images of maps become PNG files, in turns with
// twmap-extract-files and twmap-edit --mapdir of the crate twmap-tools on the same maps (cargo install
// twmap-tools). The latter takes one map a run and writes what else is in it, too. It prints the
// processor time and the elapsed time of the best turn of each, and their ratios.
//
//	go run ./bench/datafile -maps DIR [-twmap DIR] [-n 20] [-rounds 5] [-recfs BIN]
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"recfs/bench/internal/harness"
)

var (
	maps   = flag.String("maps", "../shared/recordings/datafile", "the directory with the maps")
	twmap  = flag.String("twmap", "", "the directory of the programs to compare with; without it they are looked for in PATH")
	most   = flag.Int("n", 20, "how many maps, the largest first")
	rounds = flag.Int("rounds", 5, "how many turns")
)

func main() { harness.Main("datafile", run) }

func run(ctx context.Context, dir, recfs string) error {
	list, err := largest(*maps, *most)
	if err != nil {
		return err
	}
	if list, err = copyInto(dir, taken(ctx, dir, list)); err != nil {
		return err
	}
	turns := []*turn{
		{program: recfs, runs: [][]string{{"cat", filepath.Join(filepath.Dir(list[0]), "*.map", "images", "*.png")}}},
		{program: filepath.Join(*twmap, "twmap-extract-files"), runs: [][]string{append([]string{"--images"}, list...)}},
		{program: filepath.Join(*twmap, "twmap-edit"), runs: mapDirs(list)},
	}
	for range *rounds {
		for _, t := range turns {
			if err := t.run(ctx, dir); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%d maps\n", len(list))
	for _, t := range turns {
		t.print(turns[0])
	}
	return nil
}

// taken returns the maps that twmap-edit takes: it refuses some of the games' own.
func taken(ctx context.Context, dir string, list []string) (kept []string) {
	for _, name := range list {
		edit := &turn{program: filepath.Join(*twmap, "twmap-edit"), runs: mapDirs([]string{name})}
		if err := edit.run(ctx, dir); err != nil {
			fmt.Printf("left out: %s: %v\n", filepath.Base(name), err)
			continue
		}
		kept = append(kept, name)
	}
	return kept
}

// mapDirs returns the arguments by which twmap-edit writes each map as a directory.
func mapDirs(list []string) (runs [][]string) {
	for _, name := range list {
		runs = append(runs, []string{"--mapdir", name, filepath.Base(name) + ".dir"})
	}
	return runs
}

// largest returns the absolute names of the n largest maps in a directory.
func largest(dir string, n int) ([]string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	list, err := filepath.Glob(filepath.Join(abs, "*.map"))
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no maps in %s", dir)
	}
	return bySize(list)[:min(n, len(list))], nil
}

func bySize(list []string) []string {
	size := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(a, b)) })
	return list
}

// copyInto copies the maps into a new directory below dir, and returns the copies.
func copyInto(dir string, list []string) ([]string, error) {
	dir = filepath.Join(dir, "maps")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	var copies []string
	for _, name := range list {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		copies = append(copies, filepath.Join(dir, filepath.Base(name)))
		if err := os.WriteFile(copies[len(copies)-1], b, 0o666); err != nil {
			return nil, err
		}
	}
	return copies, nil
}

// A turn is the best one of a program, which takes all its runs.
type turn struct {
	program      string
	runs         [][]string // arguments
	cpu, elapsed time.Duration
	images       int
	bytes        int64
}

// run runs the program in an empty directory. What it prints counts as a file there.
func (t *turn) run(ctx context.Context, parent string) error {
	dir, err := os.MkdirTemp(parent, "turn-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out, err := os.Create(filepath.Join(dir, "stdout"))
	if err != nil {
		return err
	}
	defer out.Close()
	var cpu time.Duration
	start := time.Now()
	for _, args := range t.runs {
		cmd := exec.CommandContext(ctx, t.program, args...)
		cmd.Dir, cmd.Stdout, cmd.Env = dir, out, append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", t.program, err)
		}
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	elapsed := time.Since(start)
	if t.cpu == 0 || cpu < t.cpu {
		t.cpu = cpu
	}
	if t.elapsed == 0 || elapsed < t.elapsed {
		t.elapsed = elapsed
	}
	t.images, t.bytes, err = count(dir)
	return err
}

// count returns how many PNG files the files below a directory hold, and their bytes.
func count(dir string) (images int, size int64, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if n := bytes.Count(b, []byte("\x89PNG\r\n\x1a\n")); n > 0 {
			images, size = images+n, size+int64(len(b))
		}
		return err
	})
	return images, size, err
}

// print prints the turn and how much of its time ours takes.
func (t *turn) print(ours *turn) {
	fmt.Printf("%-20s %3d images of %8d bytes, %6.0f ms of a processor, %6.0f ms", filepath.Base(t.program), t.images, t.bytes,
		1e3*t.cpu.Seconds(), 1e3*t.elapsed.Seconds())
	if t != ours {
		fmt.Printf("; ratio %.2f and %.2f (aim: below 1)", ours.cpu.Seconds()/t.cpu.Seconds(), ours.elapsed.Seconds()/t.elapsed.Seconds())
	}
	fmt.Println()
}
