//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// damage changes samples and looks at them, round by round.
func damage(ctx context.Context, dir, recfs string) error {
	t := &torture{recfs: recfs, dir: dir, keep: *keep}
	var err error
	if t.samples, err = readSamples(*source); err != nil {
		return err
	}
	first := *seed
	if first == 0 {
		first = rand.Uint64N(1 << 32)
	}
	fmt.Printf("seed %d, %d samples, a budget of %d MiB\n", first, len(t.samples), budget(smallBudget))
	if err := t.alone(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, *duration)
	defer cancel()
	for n := first; ctx.Err() == nil && (*rounds == 0 || n < first+uint64(*rounds)); n++ {
		if err := t.round(ctx, n); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return t.judge()
}

// readSamples returns the files below dir of which something is made.
func readSamples(dir string) (all []sample, err error) {
	err = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(name) == ".md" {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		all = append(all, sample{rel, content})
		return err
	})
	if err == nil && len(all) == 0 {
		err = errors.New("no samples")
	}
	return all, err
}

// judge prints what was done, and returns an error if there are findings.
func (t *torture) judge() error {
	fmt.Printf("%d inputs, %d files, %d reads, %d findings; peak memory", t.inputs, t.files, t.reads, t.findings)
	for _, name := range []string{"check", "cp", "mount", "find", "export"} {
		fmt.Printf(" %s %d MiB", name, t.peak[name]>>10)
	}
	fmt.Println()
	switch {
	case t.inputs == 0:
		return errors.New("no round came to its end")
	case t.findings > 0:
		return fmt.Errorf("%d findings; their recordings are in %s", t.findings, t.keep)
	}
	return nil
}
