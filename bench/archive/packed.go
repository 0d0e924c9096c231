package main

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"recfs/bench/internal/harness"
	"recfs/bench/internal/packing"
)

// compression returns the one that was asked for; nil: none.
func compression() (*packing.Compression, error) {
	if *packed == "" {
		return nil, nil
	}
	i := slices.IndexFunc(packing.Compressions, func(c packing.Compression) bool { return c.Ext == *packed })
	if i < 0 {
		return nil, fmt.Errorf("%q is the extension of no compression", *packed)
	}
	return &packing.Compressions[i], nil
}

// The aims for compressed recordings that were indexed once: what the second index takes of the processor
// time of the first, and how long it takes to read what the index knows of 3,089 recordings.
const (
	secondIndex = 0.02
	readIndexed = 3 * time.Second
	ofSo        = 3089
)

// fromIndex are the files that the index answers.
var fromIndex = []string{"header.json", "metadata", "index.json", "players.json", "scores.json", "events.txt", "events.jsonl"}

// indexed measures what an index of compressed recordings is worth.
func (b *bench) indexed(ctx context.Context) error {
	fmt.Printf("%d recordings, each in %s\n", *count, *packed)
	var used [2]time.Duration
	for i := range used {
		cost, err := harness.Measure(b.command(ctx, "index"), harness.CPU)
		if err != nil {
			return err
		}
		used[i] = cost.CPU
	}
	fmt.Printf("recfs index: %v of processor time, the second time %v: %.3f (aim: %.2f)\n",
		used[0].Round(time.Millisecond), used[1].Round(time.Millisecond), used[1].Seconds()/used[0].Seconds(), secondIndex)
	return b.mounted(ctx, b.readIndexed)
}

// readIndexed reads the files that the index answers, of all recordings.
func (b *bench) readIndexed() error {
	aim := readIndexed * time.Duration(*count) / ofSo
	for _, name := range fromIndex {
		recordings, err := os.ReadDir(b.mnt)
		if err != nil {
			return err
		}
		n, size, start := 0, int64(0), time.Now()
		for _, r := range recordings {
			switch read, err := harness.ReadFile(filepath.Join(b.mnt, r.Name(), name)); {
			case err == nil:
				n, size = n+1, size+read
			case !errors.Is(err, iofs.ErrNotExist):
				return err
			}
		}
		fmt.Printf("%-12s of %d recordings: %d KiB in %v (aim: %v)\n", name, n, size>>10,
			time.Since(start).Round(time.Millisecond), aim.Round(time.Millisecond))
	}
	return nil
}
