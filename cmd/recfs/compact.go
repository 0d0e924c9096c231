package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"recfs/formats"
	"recfs/formats/outfile"
)

var compactCommand = command{
	name:    "compact",
	args:    "DIRECTORY OUTPUT",
	summary: "Make one file out of an HCRP recording in segments",
	about: `
DIRECTORY holds the segments of one recording, OUTPUT must not exist yet. Every chunk is compressed again. From
damaged segments it keeps what is whole, says what is missing, and exits with 1.`,
	run: runCompact,
}

func runCompact(flags *pflag.FlagSet) runFunc {
	level := flags.Int("level", 19, "zstd `LEVEL`, 1 to 22")
	asJSON := flags.Bool("json", false, "print what was made and what is missing as a JSON object")
	opt := readFlags(flags)
	return func(ctx context.Context, e *env, args []string) error {
		if *level < 1 || *level > 22 {
			return usagef("compact: there is no zstd level %d", *level)
		}
		list, err := opt.formats.list()
		if err != nil {
			return err
		}
		format := list[slices.IndexFunc(list, func(f formats.Format) bool { return f.Segments != nil && f.Segments.Compact != nil })]
		c := &compactor{env: e, dir: sourceOf(args[0]), out: args[1], level: *level, asJSON: *asJSON}
		return c.compact(ctx, format)
	}
}

// A compactor makes the file out of the recording in dir.
type compactor struct {
	env      *env
	dir, out string
	level    int // of zstd
	asJSON   bool
}

// A compactLine is what compact --json prints.
type compactLine struct {
	jsonPath
	Chunks  int       `json:"chunks"`
	Size    int64     `json:"size"`
	Missing []problem `json:"missing"`
}

// compact writes the recording to the new file.
func (c *compactor) compact(ctx context.Context, f formats.Format) error {
	dir, out := c.dir, c.out
	if _, err := os.Lstat(out); !errors.Is(err, os.ErrNotExist) {
		return cmp.Or(err, fmt.Errorf("%s is there already", out))
	}
	info, err := os.Stat(filepath.Join(dir, f.Segments.File))
	if err != nil {
		return fmt.Errorf("%s is no recording in segments: %s in it: %w", dir, f.Segments.File, reason(f.Segments.File, err))
	}
	scratch, err := outfile.Create(out, 0o600)
	if err != nil {
		return notWritten(out, err)
	}
	defer scratch.Discard()
	file, err := outfile.Create(out, info.Mode()&0o666)
	if err != nil {
		return notWritten(out, err)
	}
	defer file.Discard()
	file.Durable, file.Exclusive = true, true
	bar := newMeter(c.env.stderr, "compacting")
	w := bufio.NewWriter(file)
	report, err := f.Segments.Compact(ctx, os.DirFS(dir), w, scratch, formats.CompactOptions{Level: c.level, Progress: bar.set})
	bar.close()
	if ctx.Err() != nil {
		return &interruption{nothingWritten}
	}
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = file.Commit()
	}
	if p, ok := errors.AsType[*os.PathError](err); err != nil && !(ok && p.Path == out) {
		return fmt.Errorf("%s: %w", dir, err)
	} else if err != nil {
		return err
	}
	return c.tell(f.Name, report)
}

// tell says what was written and what could not be.
func (c *compactor) tell(format string, report *formats.CompactReport) error {
	line := compactLine{jsonPath: newJSONPath(c.out), Chunks: report.Chunks, Size: report.Size, Missing: []problem{}}
	for _, p := range report.Missing {
		line.Missing = append(line.Missing, newProblem(c.dir, format, p))
	}
	if c.asJSON {
		if err := writeJSON(c.env.stdout, line); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(c.env.stderr, "%s: %d chunks, %s\n", c.out, report.Chunks, humanSize(report.Size))
		for _, p := range line.Missing {
			fmt.Fprintln(c.env.stderr, "missing:", p)
		}
	}
	if len(line.Missing) > 0 {
		return errReported
	}
	return nil
}
