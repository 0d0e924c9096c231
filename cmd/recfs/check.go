package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/pflag"

	"recfs/nodes"
)

var checkCommand = command{
	name:    "check",
	args:    "PATH...",
	summary: "Read everything and tell what is damaged",
	about: aboutPaths + `

Each problem is one line: path, format, chunk or file in the recording, offset, reason. The exit code is 1
if there is a problem.`,
	run: runCheck,
}

func runCheck(flags *pflag.FlagSet) runFunc {
	asJSON := flags.Bool("json", false, "print each problem as a JSON object")
	jobs := jobsFlag(flags)
	return readFlags(flags).opened(func(ctx context.Context, e *env, a *archive, args []string) error {
		c := &checker{ctx: ctx, out: e.stdout, asJSON: *asJSON, bar: newProgress(e.stderr, "checking", -1)}
		inOrder(*jobs, a.find(ctx, args, c.unreadable), c.check, c.report)
		_ = c.bar.Exit()
		if err := ctx.Err(); err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "%s, %s, %s read: %s\n", count(c.recordings, "recording", "recordings"),
			count(c.files, "file", "files"), humanSize(c.bytes), count(c.problems, "problem", "problems"))
		if c.problems > 0 {
			return errReported
		}
		return nil
	})
}

// A checker reads everything and tells what is wrong.
type checker struct {
	ctx    context.Context
	asJSON bool
	bar    *progressbar.ProgressBar

	mu         sync.Mutex // guards what follows
	out        io.Writer
	recordings int
	files      int
	bytes      int64
	problems   int
}

func (c *checker) unreadable(name string, err error) {
	c.report([]problem{fileProblem(name, err)})
}

// report prints problems. What is found after an interruption is none: it is a read that was cut
// short.
func (c *checker) report(problems []problem) {
	if c.ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range problems {
		c.problems++
		_ = c.bar.Clear()
		if c.asJSON {
			_ = json.NewEncoder(c.out).Encode(p)
		} else {
			fmt.Fprintln(c.out, p)
		}
	}
}

// check reads a recording or another file and returns what is wrong with it.
func (c *checker) check(f found) []problem {
	if !f.isRecording {
		if err := c.read(f.entry.File); err != nil {
			return []problem{fileProblem(f.name, err)}
		}
		return nil
	}
	c.mu.Lock()
	c.recordings++
	c.mu.Unlock()
	return c.recording(f)
}

// recording returns the problems that a recording tells of, and those of reading it that this does
// not explain.
func (c *checker) recording(f found) []problem {
	told, toldErr := toldProblems(c.ctx, f)
	l := newProblemList(told)
	err := nodes.Walk(c.ctx, f.entry.Dir, func(name string, e nodes.Entry, err error) error {
		if err == nil && e.File != nil {
			err = c.read(e.File)
		}
		switch {
		case c.ctx.Err() != nil:
			return c.ctx.Err()
		case err != nil:
			l.add(readProblem(f, name, err))
		default:
			l.endRun()
		}
		return nil
	})
	if err == nil && len(l.problems) == len(told) {
		err = toldErr // of a file that can be read
	}
	if err != nil && c.ctx.Err() == nil {
		l.add(readProblem(f, "", err))
	}
	return l.problems
}

// read reads a file to its end.
func (c *checker) read(file nodes.File) error {
	n := &byteCounter{bar: c.bar}
	err := copyFile(c.ctx, n, file)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files++
	c.bytes += n.n
	return err
}

type byteCounter struct {
	n   int64
	bar *progressbar.ProgressBar
}

func (b *byteCounter) Write(p []byte) (int, error) {
	b.n += int64(len(p))
	_ = b.bar.Add(len(p))
	return len(p), nil
}
