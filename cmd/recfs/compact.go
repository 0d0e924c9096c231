package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"recfs/formats/hcrp"
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
	opt := readFlags(flags)
	return func(ctx context.Context, e *env, args []string) error {
		if *level < 1 || *level > 22 {
			return usagef("compact: there is no zstd level %d", *level)
		}
		options, err := opt.formats.hcrp()
		if err != nil {
			return err
		}
		return compact(ctx, e, sourceOf(args[0]), args[1], options, *level)
	}
}

// compact writes the recording in dir to the new file out. A file that is
// there under its name is whole: it is made under another one first.
func compact(ctx context.Context, e *env, dir, out string, options hcrp.Options, level int) error {
	if _, err := os.Lstat(out); !errors.Is(err, os.ErrNotExist) {
		return cmp.Or(err, fmt.Errorf("%s is there already", out))
	}
	if _, err := os.Stat(filepath.Join(dir, "preamble.dat")); err != nil {
		return fmt.Errorf("%s is no recording in segments: %w", dir, err)
	}
	r, err := hcrp.OpenDir(ctx, os.DirFS(dir), options)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	scratch, err := tempBeside(out)
	if err != nil {
		return err
	}
	defer discard(scratch)
	file, err := tempBeside(out)
	if err != nil {
		return err
	}
	defer discard(file)
	bar := newProgress(e.stderr, "compacting", -1)
	w := bufio.NewWriter(file)
	report, err := r.Compact(ctx, w, scratch, hcrp.CompactOptions{Level: level, Progress: func(done, all int64) {
		bar.ChangeMax64(all)
		_ = bar.Set64(done)
	}})
	_ = bar.Exit()
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = publish(file, out)
	}
	if err != nil {
		return err
	}
	return e.compacted(dir, out, report)
}

// compacted tells what was written and what could not be.
func (e *env) compacted(dir, out string, report *hcrp.CompactReport) error {
	fmt.Fprintf(e.stderr, "%s: %d chunks, %s\n", out, report.Chunks, humanSize(report.Size))
	for _, p := range report.Missing {
		told := problem{Path: dir, Format: "hcrp", Code: p.Code, Chunk: p.Chunk, Segment: p.Segment, Offset: &p.Offset, Reason: p.Message}
		fmt.Fprintln(e.stderr, "missing:", told)
	}
	if len(report.Missing) > 0 {
		return errReported
	}
	return nil
}

func tempBeside(out string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(out), "."+filepath.Base(out)+"-*.tmp")
}

// discard closes and removes a temporary file; one that was renamed is gone
// under its name.
func discard(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}

// publish gives a temporary file its name, once it is safe on disk. It does
// not replace another file.
func publish(f *os.File, name string) error {
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	err := os.Link(f.Name(), name)
	if err != nil && !errors.Is(err, os.ErrExist) { // not every file system has links
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return err
	}
	if d, err := os.Open(filepath.Dir(name)); err == nil {
		_ = d.Sync() // as far as the system can
		d.Close()
	}
	return nil
}
