package main

import (
	"context"
	"fmt"
	"io"
	iofs "io/fs"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"recfs/formats/catalogue"
	"recfs/nodes"
)

var checkCommand = command{
	name:    "check",
	args:    "PATH...",
	summary: "Read everything and tell what is damaged",
	about: aboutPaths + `

Each problem is one line: path, format, chunk or file in the recording, offset, reason. The exit code is 1
if there is a problem, 2 if there is nothing to read.`,
	run: runCheck,
}

func runCheck(flags *pflag.FlagSet) runFunc {
	flags.Bool("json", false, "print each problem as a JSON object")
	registerColor(flags)
	registerJobs(flags)
	return readFlags(flags).onPaths(func(ctx context.Context, e *env, a *archive, args []string) error {
		a.cache.KeepLittle()
		limitMemory(a.cache.Budget() / 8 * 7)
		c := &checker{env: e, members: map[string]bool{}}
		m := e.startMeter("checking")
		e.far = func() string {
			return fmt.Sprintf("%s, %s read: %s so far"+fromStart, c.meter.far(), humanSize(c.bytes), count(c.problems, "problem", "problems"))
		}
		report := func(problems []problem) { c.report(ctx, problems) }
		unreadable := func(name string, err error) { report([]problem{fileProblem(name, err)}) }
		err := a.measured(ctx, m, args, everything, func() {
			inOrder(e.jobs, a.find(ctx, args, unreadable), func(f found) []problem { return c.check(ctx, f) }, report)
		})
		if err != nil {
			return err
		}
		if c.files == 0 && c.recordings == 0 && c.problems == 0 {
			return usagef("check: there is nothing to read in %s", strings.Join(args, ", "))
		}
		fmt.Fprintf(e.stderr, "%s, %s, %s read: %s\n", count(c.recordings, "recording", "recordings"),
			count(c.files, "file", "files"), humanSize(c.bytes), count(c.problems, "problem", "problems"))
		switch {
		case c.problems > 0:
			return errReported
		case c.recordings == 0 && onDisk(args, iofs.FileInfo.IsDir):
			return usagef("check: there are no recordings in %s", strings.Join(args, ", "))
		}
		return nil
	})
}

// A checker reads everything and tells what is wrong.
type checker struct {
	*env
	mu         sync.Mutex // guards what follows
	recordings int
	files      int
	bytes      int64
	problems   int
	members    map[string]bool // files in containers that a problem of the container is about
}

// report prints problems. What is found after an interruption is none: it is a read that was cut
// short.
func (c *checker) report(ctx context.Context, problems []problem) {
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range problems {
		if p.Format == "" && c.members[p.Path] { // its container says why it cannot be read
			continue
		}
		if p.member != "" {
			c.members[p.member] = true
		}
		c.problems++
		c.print(p, p.text(c.colors)+"\n")
	}
}

// check reads a recording or another file and returns what is wrong with it.
func (c *checker) check(ctx context.Context, f found) []problem {
	if len(f.damage) > 0 {
		return containerProblems(f)
	}
	if !f.isRecording {
		if f.entry.File == nil { // a container: what it holds follows
			return nil
		}
		n, err := c.read(ctx, f.entry.File)
		c.meter.finish(0, n)
		if err != nil {
			return []problem{fileProblem(f.name, err)}
		}
		return nil
	}
	problems := c.recording(ctx, f)
	if ctx.Err() == nil {
		c.meter.finish(1, f.Stored)
		c.mu.Lock()
		c.recordings++
		c.mu.Unlock()
	}
	return problems
}

// recording returns the problems that a recording tells of, and those of reading it that this does
// not explain.
func (c *checker) recording(ctx context.Context, f found) []problem {
	_, known, toldErr := catalogue.Summarize(ctx, f.entry.Dir)
	if hint := known.Details.Text("hint"); hint != "" {
		c.note(f.name + ": " + hint) // nothing is wrong with it
	}
	told, toldErr := toldProblems(f, known, toldErr)
	l := newProblemList(told)
	err := nodes.Walk(ctx, f.entry.Dir, func(name string, e nodes.Entry, err error) error {
		if err == nil && e.File != nil {
			_, err = c.read(ctx, e.File)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			l.add(readProblem(f, name, err))
		default:
			l.endRun()
		}
		return nil
	})
	if err == nil && len(l.problems) == l.told {
		err = toldErr // of a file that can be read
	}
	if err != nil && ctx.Err() == nil {
		l.add(readProblem(f, "", err))
	}
	return l.problems
}

// read reads a file to its end, and returns how long it is.
func (c *checker) read(ctx context.Context, file nodes.File) (n int64, err error) {
	n, err = copyFile(ctx, io.Discard, file)
	c.meter.file()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files++
	c.bytes += n
	return n, err
}
