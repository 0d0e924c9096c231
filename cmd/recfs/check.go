package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/pflag"

	"recfs/formats"
	"recfs/nodes"
)

func checkCommand(flags *pflag.FlagSet) runFunc {
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

// A problem is one line of what check prints.
type problem struct {
	Path    string `json:"path"` // of the recording, or of the file in it that cannot be read
	Format  string `json:"format,omitempty"`
	Code    string `json:"code,omitempty"`
	Chunk   *int   `json:"chunk,omitempty"`
	Segment *int   `json:"segment,omitempty"`
	Object  string `json:"object,omitempty"` // path in the recording
	Offset  *int64 `json:"offset,omitempty"`
	Reason  string `json:"reason"`
	Files   int    `json:"files,omitempty"` // how many cannot be read for this reason, Object being the first
}

func (p problem) String() string {
	parts := []string{p.Path}
	if p.Format != "" {
		parts = append(parts, p.Format)
	}
	if p.Segment != nil {
		parts = append(parts, "segment "+strconv.Itoa(*p.Segment))
	}
	if p.Chunk != nil {
		parts = append(parts, "chunk "+strconv.Itoa(*p.Chunk))
	}
	if p.Object != "" {
		parts = append(parts, p.Object)
	}
	if p.Offset != nil {
		parts = append(parts, "offset "+strconv.FormatInt(*p.Offset, 10))
	}
	reason := p.Reason
	if p.Code != "" {
		reason += " (" + p.Code + ")"
	}
	if p.Files > 1 {
		reason += fmt.Sprintf(", and so %d files", p.Files)
	}
	return oneLine(strings.Join(append(parts, reason), ": "))
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

// fileProblem is that of a file or folder that cannot be read.
func fileProblem(name string, err error) problem {
	if errors.Is(err, nodes.ErrStale) {
		return problem{Path: name, Reason: changedMeanwhile}
	}
	return problem{Path: name, Reason: reason(name, err).Error()}
}

// changedMeanwhile is the reason of a source that was replaced, shortened or rewritten by somebody: no
// damage, and another run may find nothing.
const changedMeanwhile = "changed while it was read"

// report prints problems. What is found after an interruption is none: it is a read that was cut short.
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

func readProblem(f found, object string, err error) problem {
	if object == "." {
		object = ""
	}
	p := fileProblem(f.name, err)
	p.Format, p.Object, p.Files = f.Format, object, 1
	if e := (*formats.Error)(nil); p.Reason != changedMeanwhile && errors.As(err, &e) {
		p.Offset, p.Reason = &e.Offset, e.Err.Error()
	}
	return p
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

// toldProblems returns what header.json, index.json and error.txt say.
func toldProblems(ctx context.Context, f found) ([]problem, error) {
	if e, err := nodes.Child(ctx, f.entry.Dir, "error.txt"); err == nil && e.File != nil {
		text, err := nodes.ReadAll(ctx, e.File)
		if err != nil {
			return nil, err
		}
		return []problem{parseErrorText(f, string(text))}, nil
	}
	var problems []problem
	seen := map[string]bool{}
	for _, name := range []string{"header.json", "index.json"} {
		var document struct {
			Problems []formats.Problem `json:"problems"`
		}
		if err := readJSON(ctx, f.entry.Dir, name, &document); err != nil {
			return problems, err
		}
		for _, told := range document.Problems {
			p := problem{
				Path: f.name, Format: f.Format, Code: told.Code, Chunk: told.Chunk, Segment: told.Segment,
				Object: told.Path, Offset: &told.Offset, Reason: told.Message,
			}
			if line := p.String(); !seen[line] {
				seen[line] = true
				problems = append(problems, p)
			}
		}
	}
	return problems, nil
}

func readJSON(ctx context.Context, dir nodes.Dir, name string, v any) error {
	e, err := nodes.Lookup(ctx, dir, name)
	if err != nil {
		return err
	}
	if e.File == nil {
		return errors.New("not a file")
	}
	text, err := nodes.ReadAll(ctx, e.File)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}

// parseErrorText reads error.txt, one fact a line.
func parseErrorText(f found, text string) problem {
	p := problem{Path: f.name, Format: f.Format}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch key {
		case "reason":
			p.Reason = value
		case "code":
			p.Code = value
		case "offset":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				p.Offset = &n
			}
		}
	}
	return p
}
