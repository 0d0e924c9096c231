//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"recfs/bench/internal/harness"
)

// measureRecordings measures what a user sees who has just found a long recording: one of
// teehistorian, what there is of HCRP and NetHack, and a generated match of Echo VR.
func measureRecordings(ctx context.Context, b *bench) error {
	archive, names, err := b.longRecordings(cmp.Or(*size, 64) * 1e6)
	if err != nil {
		return err
	}
	const match = "match.butter"
	env := []string{"RECFS_BENCH_MATCH=" + filepath.Join(archive, match)}
	if err := harness.Command(ctx, env, "go", "test", "-run", "TestWriteMatch", "./formats/echo"); err != nil {
		return err
	}
	for _, name := range append(names, match) {
		if err := b.recording(ctx, archive, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// recording measures one recording, with nothing known of it. The floor of what reads all is cat of
// its bytes in the mount.
func (b *bench) recording(ctx context.Context, archive, name string) error {
	err := b.mounted(ctx, archive, func(d *harness.Daemon, mnt string) error {
		fmt.Println(name)
		dir := filepath.Join(mnt, name)
		for _, o := range []struct{ what, line, aim string }{
			{"first ls", "ls >/dev/null", ""},
			{"pass", "ls -l lines >/dev/null", ""},
			{"export/events.txt", "cat export/events.txt >/dev/null", "0.1 of the pass"},
			{"lines/", "cat lines/* | head -c 2G >/dev/null", ""},
			{"export/match.echoreplay", "cat export/match.echoreplay >/dev/null", ""},
		} {
			if _, err := os.Stat(filepath.Join(dir, o.what)); strings.HasPrefix(o.what, "export/") && err != nil {
				continue
			}
			work := func() error { return shell(ctx, dir, o.line) }
			floor := func() error { return shell(ctx, archive, "cat "+name+" >/dev/null") }
			if err := compare(o.what, o.aim, side{work, d.Uses()}, floor); err != nil {
				return err
			}
		}
		kept, err := sizeOf(b.program.Cache)
		peak, peakErr := d.Number("status", "VmHWM")
		note("kept, at most", "%d KiB on disk, %d MiB resident", kept>>10, peak>>10)
		return cmp.Or(err, peakErr)
	})
	if err != nil {
		return err
	}
	return b.mounted(ctx, archive, func(d *harness.Daemon, mnt string) error { // with nothing decoded
		return randomTicks(d, filepath.Join(archive, name), filepath.Join(mnt, name), cmp.Or(*count, 200))
	})
}

// randomTicks reads ticks anywhere, with nothing of the source in memory.
func randomTicks(d *harness.Daemon, source, dir string, reads int) error {
	index, err := readIndex(dir)
	if err != nil || len(index.Chunks) == 0 {
		return err
	}
	f, err := os.Open(source)
	if err != nil {
		return err
	}
	defer f.Close()
	rnd := rand.New(rand.NewPCG(1, 2))
	var times []time.Duration
	most := 0
	for tries := 0; len(times) < reads && tries < 100*reads; tries++ {
		c := index.Chunks[rnd.IntN(len(index.Chunks))]
		name := filepath.Join(dir, "ticks", fmt.Sprintf("%08d.json", c.First+rnd.Int64N(c.Last-c.First+1)))
		if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			return err
		}
		before, err := d.Number("io", "rchar")
		if err != nil {
			return err
		}
		start := time.Now()
		if _, err = os.ReadFile(name); errors.Is(err, iofs.ErrNotExist) {
			continue // a tick without records
		}
		took := time.Since(start)
		after, afterErr := d.Number("io", "rchar")
		if err := cmp.Or(err, afterErr); err != nil {
			return err
		}
		times, most = append(times, took), max(most, after-before)
	}
	if n := len(times); n > 0 {
		slices.Sort(times)
		note("random tick", "%11.1f ms median, %.1f at the 95th percentile, at most %d KiB read", ms(times[n/2]), ms(times[n*95/100]), most>>10)
	}
	return nil
}

// runBenchmarks runs benchmarks of packages. Theirs is the floor, too.
func runBenchmarks(ctx context.Context, _ *bench) error {
	for _, o := range []struct{ pkg, pattern, aim string }{
		{"hcrp", "Lines|Bodies|Index|State$|ColdTick|Archive", "bodies 0.8 of the floor, lines 100 MB/s, 0 extra bytes, 20,000 recordings 1000 ms and again 100"},
		{"nethack", "Medium|Long", "sequential 0.25 of the floor, cold 30 ms, near a checkpoint 1 ms, 16 MiB over"},
		{"butter", "Decode|Lines|Text|Floor", "decode 60,000 frames/cpu-s, lines 15,000, text 12,000"},
		{"teehistorian", "IndexRatio", "none; the ratio to a pass that keeps nothing"},
		{"internal/parquet", "Layout", "30 ms, 16 MiB a layout, 1 MiB a footer"},
	} {
		fmt.Printf("%s, aim: %s\n", o.pkg, o.aim)
		if err := harness.Show(ctx, "go", "test", "-run", "^$", "-bench", o.pattern, "-benchtime", fmt.Sprintf("%dx", *rounds), "./formats/"+o.pkg); err != nil {
			return err
		}
	}
	return nil
}
