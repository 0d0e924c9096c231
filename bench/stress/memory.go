//go:build linux

package main

import (
	"archive/tar"
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"recfs/bench/internal/harness"
)

const (
	mib     = 1 << 20
	crowded = 50 // readers of the crowd
	started = 4 * mib
)

// memory looks at what a mount takes at most.
func memory(ctx context.Context, dir, recfs string) error {
	ctx, cancel := context.WithTimeout(ctx, max(*duration, 15*time.Minute))
	defer cancel()
	source, mnt := filepath.Join(dir, "source"), filepath.Join(dir, "mnt")
	if err := os.MkdirAll(source, 0o777); err != nil {
		return err
	}
	if err := crowd(source); err != nil {
		return err
	}
	flags := []string{"--cache-mem", fmt.Sprintf("%dMiB", budget(smallBudget)), "--log-file", filepath.Join(dir, "log")}
	d, err := harness.Program{Binary: recfs, Cache: filepath.Join(dir, "cache"), Flags: flags}.Start(ctx, source, mnt)
	if err != nil {
		return err
	}
	began := time.Now()
	var times waits
	err = readCrowd(ctx, mnt, &times)
	took := time.Since(began).Round(time.Second / 10)
	peak, peakErr := d.Number("status", "VmHWM")
	promised := budget(smallBudget) + 64
	if *only == "" || strings.Contains(*only, "window") { // which is made alone
		promised = max(budget(smallBudget), windowSize) + 64
	}
	fmt.Printf("%d readers %v, peak %d MiB of %d MiB\n", crowded, took, peak>>10, promised)
	times.print()
	if err = errors.Join(err, peakErr, d.Stop()); err == nil && peak>>10 > promised {
		err = errors.New("more than was promised")
	}
	return err
}

// readCrowd lets all readers at once read a file of the mount, or the whole recordings. What cannot
// be read does not matter here.
func readCrowd(ctx context.Context, mnt string, times *waits) error {
	list, err := os.ReadDir(mnt)
	if err != nil {
		return err
	}
	errs := make([]error, crowded)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			root, began := list[i%len(list)].Name(), time.Now()
			errs[i] = filepath.WalkDir(filepath.Join(mnt, root), func(name string, e iofs.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					readStart(name, started)
				}
				if root == ordinary {
					times.add(time.Since(began))
				}
				began = time.Now()
				return ctx.Err()
			})
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// waits are how long the reads of ordinary files took, and the listings between them.
type waits struct {
	mu  sync.Mutex
	all []time.Duration
}

func (w *waits) add(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, d)
}

// print tells of them, if there are any.
func (w *waits) print() {
	if n := len(w.all); n > 0 {
		slices.Sort(w.all)
		fmt.Printf("%d ordinary reads: half within %v, 99 %% within %v, longest %v\n", n, w.all[n/2], w.all[n*99/100], w.all[n-1])
	}
}

// readStart reads the first bytes of a file.
func readStart(name string, n int64) {
	f, err := os.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = io.CopyN(io.Discard, f, n)
}

// create makes a file of what write writes.
func create(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(write(w), w.Flush(), f.Close())
}

// noise returns bytes that compress to about a half.
func noise(n, seed int) []byte {
	random := rand.New(rand.NewPCG(1, uint64(seed)))
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[random.IntN(16)]
	}
	return b
}

// longLog is a NetHack log with a line of 300 MB of zeroes.
func longLog(w io.Writer, i int) error {
	_, err := io.Copy(w, io.MultiReader(strings.NewReader(logHead(i)), zeroes(300), strings.NewReader("\nQ\n")))
	return err
}

// logHead is the three lines that a log begins with.
func logHead(i int) string {
	second := fmt.Sprintf("%78s\n", "a game of no moves")
	return "NHGAME done 00000000 4.003.000\n" + second + fmt.Sprintf("%x 0 0 UGxheWVy Arc Hum Mal Neu\n", 1<<50+i)
}

// windowSize is how large the windows of zstd frames are, in MiB.
const windowSize = 64

// wideTar is a tar of files of 1 MiB in a zstd frame that asks for such a window.
func wideTar(w io.Writer, i int) error {
	z, err := zstd.NewWriter(w, zstd.WithWindowSize(windowSize*mib), zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	const files = 60
	t := tar.NewWriter(z)
	for n := range files {
		if err = t.WriteHeader(&tar.Header{Name: fmt.Sprintf("f%02d.txt", n), Size: mib, Mode: 0o644}); err == nil {
			_, err = t.Write(noise(mib, i*files+n))
		}
		if err != nil {
			return err
		}
	}
	return cmp.Or(t.Close(), z.Close())
}
