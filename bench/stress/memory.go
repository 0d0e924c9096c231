//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

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
	if err := cmp.Or(os.MkdirAll(source, 0o777), crowd(source)); err != nil {
		return err
	}
	flags := []string{budgetFlag(budget(smallBudget)), "--log-file", filepath.Join(dir, "log")}
	p := harness.Program{Binary: recfs, Cache: filepath.Join(dir, "cache"), Flags: flags}
	if *serving {
		return serveCrowd(ctx, p, source)
	}
	var took time.Duration
	peak, err := p.Mount(ctx, source, mnt, func(*harness.Daemon) error {
		began := time.Now()
		defer func() { took = time.Since(began).Round(time.Second / 10) }()
		return readCrowd(ctx, mnt)
	})
	return cmp.Or(err, judgePeak(fmt.Sprintf("%d readers %v", crowded, took), peak, 0))
}

// judgePeak prints what was looked at, and compares its peak, in KiB, with what is promised: the
// budget, or what is made alone, 64 MiB, and more MiB.
func judgePeak(what string, peak, more int) error {
	promised := budget(smallBudget) + 64 + more
	if *only == "" || strings.Contains(*only, "window") { // which is made alone
		promised = max(budget(smallBudget), windowSize) + 64 + more
	}
	fmt.Printf("%s, peak %d MiB of %d MiB\n", what, peak>>10, promised)
	if peak>>10 > promised {
		return errors.New("more than was promised")
	}
	return nil
}

// readCrowd lets all readers at once read a file of the mount, or the whole recordings. What cannot
// be read does not matter here.
func readCrowd(ctx context.Context, mnt string) error {
	list, err := os.ReadDir(mnt)
	if err != nil {
		return err
	}
	errs := make([]error, crowded)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			root := filepath.Join(mnt, list[i%len(list)].Name())
			errs[i] = filepath.WalkDir(root, func(name string, e iofs.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					readStart(name)
				}
				return ctx.Err()
			})
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// readStart reads the first bytes of a file.
func readStart(name string) {
	f, err := os.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = io.CopyN(io.Discard, f, started)
}
