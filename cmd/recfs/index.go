package main

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"iter"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/formats/catalogue"
	"recfs/formats/export"
	"recfs/nodes"
)

var indexCommand = command{
	name:    "index",
	args:    "PATH...",
	summary: "Make the indexes of recordings ahead of time",
	about: `
Some recordings have to be read once before their ticks are known. This does it now, so that nobody waits
for it later: mounts and all other commands find the indexes in the cache directory. It also draws the
pictures of maps and of their layers, and counts their tiles. With --demos it renders the demos of all
finished runs once, too, so that ls -l and the menu of the game client find their sizes. A recording that
cannot be read or a container that is damaged is reported, and the rest goes on; the exit code then is 1.`,
	run: runIndex,
}

func runIndex(flags *pflag.FlagSet) runFunc {
	flags.Bool("json", false, "print a JSON object for each recording, and for each container that is damaged")
	demos := flags.Bool("demos", false, "learn the sizes of all demos of runs, too")
	copies := flags.Bool("copies", false, "put seekable copies of compressed recordings into the shared index, too")
	shard := shardFlag{export.Shard{I: 1, N: 1}}
	flags.Var(&shard, "shard", "only part I of N, by the hash of their paths")
	registerJobs(flags)
	return readFlags(flags).onPaths(func(ctx context.Context, e *env, a *archive, args []string) error {
		if *copies && a.shared == nil {
			return usagef("index: --copies needs --index-at")
		}
		x := newIndexer(e, a, args)
		x.full, x.copies, x.demos, x.shard = true, *copies, *demos, shard.Shard
		return x.run(ctx)
	})
}

// An indexer makes the indexes of recordings, which the cache on disk keeps.
type indexer struct {
	*env
	before int  // failures
	demos  bool // make the sizes of demos
	full   bool // --json and the shared index are of this, and not of find --index
	copies bool // put seekable copies into the shared index
	a      *archive
	shard  export.Shard // of args
	args   []string
	there  map[string]bool // recordings that need none
}

func newIndexer(e *env, a *archive, args []string) *indexer {
	e.startMeter("indexing")
	e.told = map[string]bool{}
	return &indexer{env: e, a: a, args: args, before: e.failures, there: map[string]bool{}}
}

// An indexLine is what index --json prints of a recording, or of a container that is damaged.
type indexLine struct {
	jsonPath
	Format  string  `json:"format"`
	Size    int64   `json:"size"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`
}

// run makes the indexes of all that the arguments name, and tells how many.
func (x *indexer) run(ctx context.Context) error {
	start := time.Now()
	if err := x.make(ctx); err != nil {
		return err
	}
	for _, name := range x.args {
		for s, err := range x.a.summaries(ctx, name) { // so that the catalogue has them all
			switch at := joinName(name, s.Place()); {
			case err == nil && s.IsContainer():
				x.tell(ctx, indexLine{jsonPath: newJSONPath(at), Format: s.Format, Size: s.Size, Error: s.Error})
			case err == nil && s.Unread():
				x.fail(at, errors.New(s.Error))
			}
		}
	}
	if x.a.shared != nil && len(x.args) == 1 && ctx.Err() == nil {
		if err := x.a.sharePart(ctx, x.args[0], x.shard); err != nil {
			x.fail(x.args[0], err)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	x.tellDone(time.Since(start))
	if x.meter.done.recordings == 0 && x.failures == 0 {
		return usagef("index: there are no recordings in %s", strings.Join(x.args, ", "))
	}
	return x.kept()
}

// runMissing makes the indexes that are missing, and tells how many if there are any.
func (x *indexer) runMissing(ctx context.Context) error {
	if x.a.options.Disk == nil {
		return usagef("--index keeps the indexes on disk, where --cache-disk 0 keeps nothing")
	}
	for _, name := range x.args {
		for s, err := range x.a.summaries(ctx, name) {
			if err == nil && s.Indexed {
				x.there[joinName(name, s.Place())] = true
			}
		}
	}
	start := time.Now()
	if err := x.make(ctx); err != nil {
		return err
	}
	if x.meter.done.recordings > 0 {
		x.tellDone(time.Since(start))
	}
	return x.kept()
}

// make makes the indexes.
func (x *indexer) make(ctx context.Context) error {
	x.a.options.OnRead, x.env.far = x.meter.onRead, x.far
	return x.a.measured(ctx, x.meter, x.args, x.wants, func() { x.indexAll(ctx, x.a.find(ctx, x.args, x.fail)) })
}

// far says how far the indexing came.
func (x *indexer) far() string {
	on := "the same command goes on from there"
	if x.a.options.Disk == nil {
		on = "nothing was kept, as there is no cache on disk"
	}
	return x.meter.far() + " indexed; " + on
}

func (x *indexer) tellDone(took time.Duration) {
	done := x.meter.done
	fmt.Fprintf(x.env.stderr, "%s, %s: %.1f s, %d failed\n",
		count(done.recordings, "recording", "recordings"), humanSize(done.bytes), took.Seconds(), x.failures-x.before)
}

// kept returns why the indexes could not be kept, if they could not.
func (x *indexer) kept() error {
	if disk := x.a.options.Disk; disk != nil && disk.Err() != nil {
		err := disk.Err()
		if p, ok := errors.AsType[*iofs.PathError](err); ok {
			err = p.Err
		}
		return fmt.Errorf("the indexes could not be kept in %s: %w; --cache-dir names another place", disk.Dir(), err)
	}
	return nil
}

// indexAll makes the indexes of a walk while that goes on.
func (x *indexer) indexAll(ctx context.Context, walk iter.Seq[found]) {
	wanted := func(yield func(found) bool) {
		for f := range walk {
			if x.wants(f) && !yield(f) {
				return
			}
		}
	}
	inOrder(x.jobs, wanted, func(f found) indexLine { return x.index(ctx, f) }, func(line indexLine) { x.tell(ctx, line) })
}

// wants reports whether something needs an index.
func (x *indexer) wants(f found) bool { return f.isRecording && !x.there[f.name] && x.ours(f) }

// ours reports whether a recording is in the shard.
func (x *indexer) ours(f found) bool {
	if x.shard.N <= 1 {
		return true
	}
	source := "." // the argument that it lies in, the longest if that is several
	for _, arg := range x.args {
		if arg = cleanName(arg); f.name == arg || strings.HasPrefix(f.name, strings.TrimSuffix(arg, "/")+"/") && (len(arg) > len(source) || source == ".") {
			source = arg
		}
	}
	return x.shard.Has(below(source, f.name))
}

// makeIndex makes the index of a recording, by asking for the size of its index.json.
func makeIndex(ctx context.Context, f found) error {
	e, err := nodes.Child(ctx, f.entry.Dir, "index.json")
	if errors.Is(err, iofs.ErrNotExist) {
		_, known, err := catalogue.Summarize(ctx, f.entry.Dir)
		told, err := toldProblems(f, known, err)
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

// runsDir has the demos of runs in a recording.
const runsDir = "demos/runs"

// measure asks for the sizes of what has to be made to know them, and is kept by the cache on disk:
// the pictures of a map and of its layers, its table of tiles, and perhaps the demos of runs.
// Damage, which makes a picture unreadable, is told of elsewhere.
func (x *indexer) measure(ctx context.Context, f found) error {
	dirs := []string{".", "layers", "tables"}
	if x.demos {
		dirs = append(dirs, runsDir)
	}
	for _, name := range dirs {
		for file, err := range listed(ctx, f, name) {
			made, ok := file.File.(nodes.Measured)
			if err == nil && ok {
				_, err = made.Size(ctx)
			}
			if _, damaged := errors.AsType[*formats.Error](err); err != nil && (!damaged || name == runsDir) {
				return fmt.Errorf("%s: %w", joinName(name, file.Name), err)
			}
		}
	}
	return nil
}

// listed yields the entries of a directory in a recording, none if that is not there.
func listed(ctx context.Context, f found, name string) iter.Seq2[nodes.Entry, error] {
	dir, err := nodes.Follow(ctx, f.entry.Dir, name)
	if err == nil && dir.Dir != nil {
		return nodes.Entries(ctx, dir)
	}
	return func(yield func(nodes.Entry, error) bool) {
		if err != nil && !errors.Is(err, iofs.ErrNotExist) {
			yield(nodes.Entry{}, err)
		}
	}
}

// makeAll makes what index makes of a recording.
func (x *indexer) makeAll(ctx context.Context, f found) error {
	err := makeIndex(ctx, f)
	if err == nil {
		err = x.measure(ctx, f)
	}
	if err != nil || !x.full || x.a.shared == nil {
		return err
	}
	now, err := archives.Current(ctx, f.entry.Dir)
	r, ok := archives.RecordingOf(now)
	if err != nil || !ok {
		return err
	}
	if x.copies {
		err = x.a.shareCopy(ctx, r, f.entry.Dir)
	}
	if err == nil {
		err = x.a.share(ctx, r)
	}
	return err
}

func (x *indexer) index(ctx context.Context, f found) indexLine {
	start, line := time.Now(), indexLine{jsonPath: newJSONPath(f.name), Format: f.Format, Size: f.Stored}
	x.meter.during(ctx, f.Stored, func() {
		if err := x.makeAll(ctx, f); err != nil {
			line.Error = reason(f.name, err).Error()
		}
	})
	line.Seconds = time.Since(start).Seconds()
	return line
}

func (x *indexer) tell(ctx context.Context, line indexLine) {
	if ctx.Err() != nil {
		return
	}
	if line.Error != "" {
		x.fail(line.Path, errors.New(line.Error))
	}
	if x.full {
		x.print(line, "")
	}
}
