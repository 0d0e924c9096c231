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

	"recfs/formats"
	"recfs/formats/outfile"
	"recfs/formats/source"
)

var compactCommand = command{
	name:    "compact",
	args:    "RECORDING OUTPUT",
	summary: "Make one sound file out of an HCRP recording; rescue is another name",
	about: `
RECORDING is a file, damaged or compressed, or a directory of segments. OUTPUT must not exist yet. Every chunk
that can be read is compressed again, also those that no index names, if they tell their ticks; the others are
in the recording's salvage/. What is lost is told, with exit code 1.`,
	run: runCompact,
}

func runCompact(flags *pflag.FlagSet) runFunc {
	level := flags.Int("level", 19, "zstd `LEVEL`, 1 to 22")
	flags.Bool("json", false, "print what was made and what is missing as a JSON object")
	return readFlags(flags).opened(func(ctx context.Context, e *env, a *archive, args []string) error {
		if *level < 1 || *level > 22 {
			return usagef("compact: there is no zstd level %d", *level)
		}
		c := &compactor{env: e, source: args[0], out: args[1], level: *level}
		return c.compact(ctx, a)
	})
}

// A compactor makes the file out of the recording called source.
type compactor struct {
	env         *env
	source, out string
	level       int // of zstd
}

// A compactLine is what compact --json prints.
type compactLine struct {
	jsonPath
	Chunks  int       `json:"chunks"`
	Size    int64     `json:"size"`
	Missing []problem `json:"missing"`
	Ticks   int64     `json:"ticks"`
	Lost    int64     `json:"lost_ticks"`
	Found   int       `json:"found_chunks"`
	Unnamed int       `json:"unnamed_chunks"`
}

// compact writes the recording to the new file.
func (c *compactor) compact(ctx context.Context, a *archive) error {
	out := c.out
	if _, err := os.Lstat(out); !errors.Is(err, os.ErrNotExist) {
		return cmp.Or(err, fmt.Errorf("%s is there already", out))
	}
	f, recording, mode, err := c.open(ctx, a)
	if err != nil {
		return named(c.source, err)
	}
	scratch, err := outfile.Create(out, 0o600)
	if err != nil {
		return notWritten(out, err)
	}
	defer scratch.Discard()
	file, err := outfile.Create(out, mode&0o666)
	if err != nil {
		return notWritten(out, err)
	}
	defer file.Discard()
	file.Durable, file.Exclusive = true, true
	bar := c.env.startMeter("compacting")
	c.env.far = func() string { return nothingWritten }
	w := bufio.NewWriter(file)
	report, err := f.Compact(ctx, recording, w, scratch, formats.CompactOptions{Level: c.level, Progress: bar.set})
	bar.close()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = file.Commit()
	}
	if p, ok := errors.AsType[*os.PathError](err); err != nil && !(ok && p.Path == out) {
		return named(c.source, err)
	} else if err != nil {
		return err
	}
	c.env.far = nil
	return c.tell(f.Name, report)
}

// open opens the recording. In a directory of this machine all files may be links, which in an
// archive do not lead out of it.
func (c *compactor) open(ctx context.Context, a *archive) (f formats.Format, rec formats.Recording, mode os.FileMode, err error) {
	dir := sourceOf(c.source)
	for _, f := range a.formats {
		if f.Compact == nil || f.Segments == nil {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, f.Segments.File)); err == nil {
			if rec.Files, err = source.Folder(dir).Files(ctx); err == nil {
				rec.Beside = source.Folder(dir)
				rec.Head, err = f.Open(ctx, rec.Input)
			}
			return f, rec, info.Mode(), err
		}
	}
	e, f, o, err := a.recording(ctx, c.source)
	if err == errNoRecording || err == nil && f.Compact == nil {
		err = errors.New("only HCRP recordings can be compacted or rescued")
	}
	if err != nil {
		return f, rec, 0, err
	}
	return f, o.Recording, modeOfCopy(e, 0o666), nil
}

// tell says what was written and what could not be.
func (c *compactor) tell(format string, report *formats.CompactReport) error {
	line := compactLine{jsonPath: newJSONPath(c.out), Chunks: report.Chunks, Size: report.Size, Missing: []problem{}, Ticks: report.Ticks, Lost: report.Lost, Found: report.Found, Unnamed: report.Unnamed}
	for _, p := range report.Missing {
		line.Missing = append(line.Missing, newProblem(c.source, format, p))
	}
	if c.env.asJSON {
		c.env.print(line, "")
	} else {
		say := func(isSo bool, text string, args ...any) {
			if isSo {
				c.env.note(fmt.Sprintf(text, args...))
			}
		}
		say(true, "%s: %d chunks, %s", c.out, report.Chunks, humanSize(report.Size))
		for _, p := range line.Missing {
			say(true, "missing: %s", p)
		}
		say(report.Lost > 0, "lost: %d of %d ticks", report.Lost, report.Ticks)
		say(report.Found > 0, "found: %d chunks that no index names", report.Found)
		say(report.Unnamed > 0, "not in it: %d chunks that no index names, which are in %s/salvage", report.Unnamed, c.source)
	}
	if len(line.Missing) > 0 || report.Unnamed > 0 {
		return errReported
	}
	return nil
}
