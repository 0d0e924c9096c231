// Command datafile measures how fast the images of maps become PNG files, in turns with
// twmap-extract-files of the crate twmap-tools on the same maps (cargo install twmap-tools). It prints
// the processor time and the elapsed time of the best turn of each, and their ratios.
//
//	go run ./bench/datafile -maps DIR [-twmap twmap-extract-files] [-n 20] [-rounds 5] [-recfs BIN]
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"recfs/bench/internal/harness"
)

var (
	maps   = flag.String("maps", "../shared/recordings/datafile", "the directory with the maps")
	twmap  = flag.String("twmap", "twmap-extract-files", "the program to compare with")
	most   = flag.Int("n", 20, "how many maps, the largest first")
	rounds = flag.Int("rounds", 5, "how many turns")
	binary = harness.RecfsFlag(flag.CommandLine)
)

func main() { harness.Main("datafile", run) }

func run(ctx context.Context) error {
	list, err := largest(*maps, *most)
	if err != nil {
		return err
	}
	return harness.InTemp("", func(dir string) error {
		recfs, err := harness.Recfs(ctx, *binary, dir)
		if err != nil {
			return err
		}
		list, err := copyInto(dir, list)
		if err != nil {
			return err
		}
		ours, theirs := turn{}, turn{}
		images := filepath.Join(filepath.Dir(list[0]), "*.map", "images", "*.png")
		for range *rounds {
			if err := ours.run(ctx, dir, recfs, []string{"cat", images}); err != nil {
				return err
			}
			if err := theirs.run(ctx, dir, *twmap, append([]string{"--images"}, list...)); err != nil {
				return err
			}
		}
		fmt.Printf("%d maps\n", len(list))
		ours.print("recfs cat")
		theirs.print("twmap-extract-files")
		fmt.Printf("ratio                %.2f of the processor time, %.2f of the time (aim: below 1)\n",
			ours.cpu.Seconds()/theirs.cpu.Seconds(), ours.elapsed.Seconds()/theirs.elapsed.Seconds())
		return nil
	})
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

// A turn is the best one of a program.
type turn struct {
	cpu, elapsed time.Duration
	images       int
	bytes        int64
}

// run runs the program in an empty directory. What it prints counts as a file there.
func (t *turn) run(ctx context.Context, parent, program string, args []string) error {
	dir, err := os.MkdirTemp(parent, "turn-")
	if err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(dir, "stdout"))
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stdout, cmd.Env = dir, out, append(os.Environ(), "XDG_CACHE_HOME="+dir)
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	elapsed, cpu := time.Since(start), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	if t.cpu == 0 || cpu < t.cpu {
		t.cpu = cpu
	}
	if t.elapsed == 0 || elapsed < t.elapsed {
		t.elapsed = elapsed
	}
	t.images, t.bytes, err = count(dir)
	return errors.Join(err, os.RemoveAll(dir))
}

// count returns how many PNG files the files in a directory hold, and their bytes.
func count(dir string) (images int, size int64, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return 0, 0, err
	}
	for _, file := range files {
		b, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if n := bytes.Count(b, []byte("\x89PNG\r\n\x1a\n")); err == nil && n > 0 {
			images, size = images+n, size+int64(len(b))
		}
	}
	return images, size, nil
}

func (t *turn) print(name string) {
	fmt.Printf("%-20s %3d images of %8d bytes, %6.0f ms of a processor, %6.0f ms\n",
		name, t.images, t.bytes, 1e3*t.cpu.Seconds(), 1e3*t.elapsed.Seconds())
}
