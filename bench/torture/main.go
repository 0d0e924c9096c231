//go:build unix

// Command torture looks for recordings that recfs does not survive, or of which its commands do not
// tell the same. In each round it changes samples as damage and malice do (their bytes, what their
// compressed pieces hold, what they are packed into), and lets recfs check, cp, find and export and a
// mount with a small budget read them beside whole ones. A finding is
//
//   - a command or a mount that panics, hangs, or ends with another exit code than 0, 1 or that of its signal;
//   - a file whose bytes differ between the mount and its copy, or from the size that stat told;
//   - an unreadable file, an error.txt or a problem in a document that check does not tell of, and the other way round;
//   - something that find --damaged or export tell of and check does not, or a table that is unreadable for cp and
//     that export tells nothing of;
//   - a whole neighbour that reads otherwise than alone;
//   - a process with more memory than the budget and what -over allows.
//
// In some rounds commands are interrupted, and recordings are cut, grown, replaced and removed while
// they are read. A seed makes the same recordings again; those of a finding are kept in -keep.
//
//	go run ./bench/torture [-recfs /tmp/recfs] -for 2h [-seed 1] [-keep DIR] [-source testdata/archive]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"recfs/bench/internal/harness"
)

var (
	duration = flag.Duration("for", time.Minute, "how long")
	seed     = flag.Uint64("seed", 0, "of the first round; 0: another one each time")
	rounds   = flag.Int("rounds", 0, "how many rounds at most; 0: as many as there is time for")
	source   = flag.String("source", "testdata/archive", "the recordings that are changed")
	keep     = flag.String("keep", "", "the directory for the recordings of findings (default: a new one)")
	cacheMem = flag.Int("cache-mem", 32, "memory budget in MiB")
	over     = flag.Int("over", 64, "how many MiB more than the budget a process may take")
	patience = flag.Duration("patience", 90*time.Second, "how long a command may take")
)

func main() { harness.Main("torture", run) }

func run(ctx context.Context, dir, recfs string) error {
	t := &torture{recfs: recfs, dir: dir, keep: *keep}
	var err error
	if t.samples, err = readSamples(*source); err != nil {
		return err
	}
	first := *seed
	if first == 0 {
		first = rand.Uint64N(1 << 32)
	}
	fmt.Printf("seed %d, %d samples, a budget of %d MiB\n", first, len(t.samples), *cacheMem)
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
