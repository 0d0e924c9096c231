//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"recfs/bench/internal/harness"
)

// A torture is one run.
type torture struct {
	recfs   string
	dir     string // of its own
	keep    string
	samples []sample
	whole   map[string]string // the files of the whole neighbours: checksums by path
	tables  map[string]string // what is exported of them, likewise

	inputs, files, reads, findings int
	peak                           map[string]int // KiB, by command
}

// A sample is a recording that is one file, or one of a directory that is a recording.
type sample struct {
	path    string // in the source
	content []byte
}

// A round is one set of recordings and what is seen of it.
type round struct {
	*torture
	program    harness.Program
	seed       uint64
	rand       *rand.Rand
	dir        string
	inputs     []string // names of the changed recordings in archive
	found      []string
	lostTables map[string]string // what cp wrote of files in tables, by input
	stuck      bool              // a command did not end as it should: there is nothing to compare with
}

func (t *torture) newRound(seed uint64, dir string) *round {
	program := harness.Program{Binary: t.recfs, Cache: filepath.Join(dir, "cache"), Flags: []string{budgetFlag(budget(smallBudget))}}
	return &round{torture: t, program: program, seed: seed, dir: dir, rand: newRand(seed, 0)}
}

func (r *round) archive() string { return filepath.Join(r.dir, "archive") }

// finding notes something that must not be.
func (r *round) finding(format string, args ...any) {
	r.found = append(r.found, fmt.Sprintf(format, args...))
}

// damage changes samples and looks at them, round by round.
func damage(ctx context.Context, dir, recfs string) (err error) {
	t := &torture{recfs: recfs, dir: dir, keep: *keep, peak: map[string]int{}}
	if t.samples, err = readSamples(*source); err != nil {
		return err
	}
	first := cmp.Or(*seed, rand.Uint64N(1<<32))
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

// readSamples returns the files below dir of which something is made.
func readSamples(dir string) (all []sample, err error) {
	err = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(name) == ".md" {
			return err
		}
		content, err := os.ReadFile(name)
		rel, relErr := filepath.Rel(dir, name)
		all = append(all, sample{rel, content})
		return cmp.Or(err, relErr)
	})
	if err == nil && len(all) == 0 {
		err = errors.New("no samples")
	}
	return all, err
}

func (t *torture) round(ctx context.Context, seed uint64) error {
	r := t.newRound(seed, filepath.Join(t.dir, "round"))
	defer os.RemoveAll(r.dir)
	if err := r.make(ctx); err != nil {
		return err
	}
	r.look(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.inputs += len(r.inputs)
	t.findings += len(r.found)
	if len(r.found) == 0 {
		return nil
	}
	return r.report(ctx)
}

// report prints the findings and keeps the recordings, as they were made.
func (r *round) report(ctx context.Context) (err error) {
	if r.keep == "" {
		if r.keep, err = os.MkdirTemp("", "recfs-torture-"); err != nil {
			return err
		}
	}
	target := filepath.Join(r.keep, fmt.Sprint(r.seed))
	text := strings.Join(r.found, "\n") + "\n"
	fmt.Printf("seed %d:\n%s", r.seed, text)
	// Those of the round may have changed since.
	return cmp.Or(os.RemoveAll(target), r.newRound(r.seed, target).make(ctx),
		os.WriteFile(filepath.Join(target, "findings.txt"), []byte(text), 0o666))
}

// alone remembers what the whole neighbours read like without the others.
func (t *torture) alone(ctx context.Context) error {
	r := t.newRound(0, filepath.Join(t.dir, "alone"))
	defer os.RemoveAll(r.dir)
	if err := r.makeWhole(); err != nil {
		return err
	}
	for _, args := range [][]string{r.copying(), r.exporting()} {
		if o := r.program.Run(ctx, args[0], args[1:]...); o.Code != 0 {
			return fmt.Errorf("%s of whole recordings: exit code %d, %v\n%s", args[0], o.Code, o.Err, o.Stderr)
		}
	}
	var err, exportErr error
	t.whole, err = sums(filepath.Join(r.dir, "copy", wholeDir), whole)
	t.tables, exportErr = sums(filepath.Join(r.dir, "tables"), pages)
	maps.DeleteFunc(t.tables, func(name, _ string) bool { return !strings.Contains(name, wholeDir) }) // others are of all recordings
	if len(t.whole) == 0 || len(t.tables) == 0 {
		err = cmp.Or(err, errors.New("there are no whole neighbours"))
	}
	return cmp.Or(err, exportErr)
}
