package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"iter"
	"path"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/pflag"

	"recfs/nodes"
)

var indexCommand = command{
	name:    "index",
	args:    "PATH...",
	summary: "Make the indexes of recordings ahead of time",
	about: `
Some recordings have to be read once before their ticks are known. This does it now, so that nobody waits
for it later: mounts and all other commands find the indexes in the cache directory. With --demos it also
renders the demos of all finished runs once, so that ls -l and the menu of the game client find their sizes.`,
	run: runIndex,
}

func runIndex(flags *pflag.FlagSet) runFunc {
	asJSON := flags.Bool("json", false, "print a JSON object for each recording")
	demos := flags.Bool("demos", false, "learn the sizes of all demos of runs, too")
	jobs := jobsFlag(flags)
	return readFlags(flags).opened(func(ctx context.Context, e *env, a *archive, args []string) error {
		x := &indexer{failures: failures{env: e}, ctx: ctx, asJSON: *asJSON, demos: *demos, told: map[string]bool{}}
		x.run(a, args, *jobs)
		if err := ctx.Err(); err != nil {
			return err
		}
		if disk := a.options.Disk; disk != nil && disk.Err() != nil {
			return fmt.Errorf("the indexes could not be kept: %w", disk.Err())
		}
		return x.result()
	})
}

// An indexer makes the indexes of recordings, which the cache on disk keeps.
type indexer struct {
	failures
	ctx    context.Context
	asJSON bool
	demos  bool // make the sizes of demos
	bar    *progressbar.ProgressBar

	recordings int
	total      int64 // bytes of recordings

	mu   sync.Mutex
	told map[string]bool // of what could not be read
}

// An indexed is what index --json prints of a recording.
type indexed struct {
	Path    string  `json:"path"`
	Format  string  `json:"format"`
	Size    int64   `json:"size"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`
}

func (x *indexer) run(a *archive, args []string, jobs jobCount) {
	x.bar = newProgress(x.env.stderr, "indexing", -1)
	a.onRead = func(n int) { _ = x.bar.Add(n) }
	start := time.Now()
	x.indexAll(a.find(x.ctx, args, x.fail), jobs)
	_ = x.bar.Exit()
	for _, name := range args {
		for s, err := range a.summaries(x.ctx, name) { // so that the catalogue has them all
			if err == nil && s.Unread() {
				x.fail(path.Join(name, exactPath(s)), errors.New(s.Error))
			}
		}
	}
	fmt.Fprintf(x.env.stderr, "%s, %s: %.1f s, %d failed\n",
		count(x.recordings, "recording", "recordings"), humanSize(x.total), time.Since(start).Seconds(), x.n)
}

// indexAll makes the indexes while the walk that finds the recordings goes on.
func (x *indexer) indexAll(walk iter.Seq[found], jobs jobCount) {
	inOrder(jobs, x.counted(walk), x.index, x.tell)
}

// counted yields the recordings of a walk.
func (x *indexer) counted(walk iter.Seq[found]) iter.Seq[found] {
	return func(yield func(found) bool) {
		for f := range walk {
			if !f.isRecording {
				continue
			}
			x.recordings++
			x.total += f.Stored
			if !yield(f) {
				return
			}
		}
	}
}

// fail tells once that name could not be read. The walk and the indexing call it at the same time.
func (x *indexer) fail(name string, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.told[name] {
		x.told[name] = true
		x.failures.fail(name, err)
	}
}

// makeIndex makes the index of a recording, by asking for the size of its index.json.
func makeIndex(ctx context.Context, f found) error {
	e, err := nodes.Child(ctx, f.entry.Dir, "index.json")
	if errors.Is(err, iofs.ErrNotExist) {
		told, err := toldProblems(ctx, f)
		if err == nil && len(told) > 0 {
			err = errors.New(told[0].Reason)
		}
		return err
	}
	if err == nil && e.File != nil {
		_, err = e.File.Size(ctx)
	}
	return err
}

// measureDemos asks for the sizes of the demos of all runs in a recording, which the cache on disk
// keeps.
func measureDemos(ctx context.Context, f found) error {
	runs, err := nodes.Lookup(ctx, f.entry.Dir, "demos/runs")
	if errors.Is(err, iofs.ErrNotExist) || err == nil && runs.Dir == nil {
		return nil
	}
	if err != nil {
		return err
	}
	for run, err := range entries(ctx, runs) {
		if err == nil && run.File != nil {
			_, err = run.File.Size(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path.Join("demos/runs", run.Name), err)
		}
	}
	return nil
}

func (x *indexer) index(f found) indexed {
	start := time.Now()
	err := makeIndex(x.ctx, f)
	if err == nil && x.demos {
		err = measureDemos(x.ctx, f)
	}
	line := indexed{Path: f.name, Format: f.Format, Size: f.Stored, Seconds: time.Since(start).Seconds()}
	if err != nil {
		line.Error = reason(f.name, err).Error()
	}
	return line
}

func (x *indexer) tell(line indexed) {
	if x.ctx.Err() != nil {
		return
	}
	_ = x.bar.Clear()
	if line.Error != "" {
		x.fail(line.Path, errors.New(line.Error))
	}
	if x.asJSON {
		_ = json.NewEncoder(x.env.stdout).Encode(line)
	}
}
