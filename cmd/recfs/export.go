package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"iter"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/pflag"

	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/formats/catalogue"
	"recfs/formats/export"
	"recfs/formats/outfile"
	"recfs/nodes"
)

var exportCommand = command{
	name:    "export",
	args:    "tables SOURCE DESTINATION",
	summary: "Write the tables of all recordings as compressed Parquet",
	about: `
SOURCE is an archive, a part of one, or a recording. Each table of each recording becomes a file,
DESTINATION/FORMAT/TABLE/PATH/OF/RECORDING.parquet, as below tables/ of a mount; with --merge those of many
recordings become a part, DESTINATION/FORMAT/TABLE/part-000000.parquet, in folders by month or map with --by.
Then come recordings.parquet, views.sql, which names all of it in DuckDB, and of some tables FORMAT/TABLE.parquet
with the rows of all recordings. A DESTINATION is for one SOURCE and for one of these layouts, which
DESTINATION/_recfs.json notes.

Another run writes only what is new or changed: of parts those with such recordings, in which all else is copied
as it lies there. It removes nothing but what one that was killed left unfinished; with --prune it removes the
rows of recordings that are gone as well, if all of SOURCE could be read, and says what it leaves and why. For
another SOURCE than the one noted, or if more than half of all tables would go, that takes --prune=force. A file
has its name once it is whole.

A recording that does not open, a container that is damaged, or a table that cannot be written is reported, and
the rest goes on; the exit code then is 1. It is 2 if there is no recording, or none has a table asked for. With --shard 1/8 to 8/8, eight machines write an eighth each, about.`,
	run: runExport,
}

func runExport(flags *pflag.FlagSet) runFunc {
	x := &exporter{shard: shardFlag{I: 1, N: 1}, partSize: 128 * mib}
	flags.StringArrayVar(&x.tables, "table", nil, "only the tables of this `NAME` (may be repeated)")
	known := formatList()
	flags.StringArrayVar(&x.formats, "format", nil, "only recordings of the format `NAME`: "+strings.Join(known, ", ")+" (may be repeated)")
	offer(flags, "format", known...)
	flags.Var(&x.shard, "shard", "only part I of N, by the hash of their paths")
	flags.BoolVar(&x.form.Merge, "merge", false, "write parts with the rows of many recordings, in place of a file for each")
	flags.StringVar(&x.form.By, "by", export.ByNone, "with --merge: folders of parts, by `none|month|map`")
	offer(flags, "by", export.ByNone, export.ByMonth, export.ByMap)
	flags.Var(&x.partSize, "part-size", "with --merge: a part ends when it has this much, 1MiB to 4GiB")
	flags.StringVar(&x.viewsAt, "views-at", "", "write `PREFIX` into views.sql in place of DESTINATION, such as s3://bucket/lake")
	flags.Func("prune", "remove tables of recordings that are gone from SOURCE (`gone|force`: with =force even if that is most of them, or SOURCE is another one)", x.setPrune)
	flags.Lookup("prune").NoOptDefVal = pruneGone
	flags.BoolVar(&x.asJSON, "json", false, "print a JSON object for each table, and for each container that is damaged")
	jobs := jobsFlag(flags)
	return readFlags(flags).opened(func(ctx context.Context, e *env, a *archive, args []string) error {
		if args[0] != "tables" {
			return usagef("export: it is only tables that can be exported, not %q", args[0])
		}
		for _, f := range x.formats {
			if !slices.Contains(known, f) {
				return usagef("export: there is no format %q: it is one of %s", f, strings.Join(known, ", "))
			}
		}
		if x.prune != "" && x.shard.N > 1 {
			return usagef("export: --prune does not go with --shard: run it once more without, after all shards")
		}
		if err := x.checkForm(flags); err != nil {
			return err
		}
		x.failures, x.meter = failures{env: e}, newMeter(e.stderr, "exporting")
		return x.run(ctx, a, filepath.Clean(args[1]), args[2], *jobs)
	})
}

// checkForm checks the flags of parts.
func (x *exporter) checkForm(flags *pflag.FlagSet) error {
	for _, name := range []string{"by", "part-size"} {
		if flags.Changed(name) && !x.form.Merge {
			return usagef("--%s needs --merge", name)
		}
	}
	switch {
	case !slices.Contains([]string{export.ByNone, export.ByMonth, export.ByMap}, x.form.By):
		return usagef("--by is none, month or map, not %q", x.form.By)
	case x.partSize < mib || x.partSize > 4*gib:
		return usagef("--part-size is 1MiB to 4GiB, not %s", x.partSize)
	case !x.form.Merge:
		x.form.By = ""
	}
	return nil
}

// A shardFlag is a flag value: I/N.
type shardFlag export.Shard

func (s *shardFlag) Set(text string) error {
	var to shardFlag
	if n, err := fmt.Sscanf(text+"\n", "%d/%d\n", &to.I, &to.N); n != 2 || err != nil || to.I < 1 || to.I > to.N {
		return errors.New("not a part such as 1/8, the first of eight")
	}
	*s = to
	return nil
}

func (s *shardFlag) String() string { return fmt.Sprintf("%d/%d", s.I, s.N) }

func (s *shardFlag) Type() string { return "I/N" }

// An exporter writes the tables of recordings.
type exporter struct {
	failures
	tables, formats []string // none: all
	shard           shardFlag
	asJSON          bool
	prune           string // "": remove nothing; pruneForce: also what seems to be a mistake
	form            export.Form
	partSize        byteSize
	viewsAt         string
	meter           *meter
	a               *archive
	source          string
	alone           bool        // it is a recording
	root            nodes.Entry // of the source
	destination     string
	lake            *export.Destination
	began           int64 // by the clock of the destination
	to              *export.Exporter
	named           export.Places
	mode            iofs.FileMode // that all recordings have

	merged map[string][]*export.Member // by format
	stays  string                      // why no recording is removed from parts
	gone   map[string]bool             // those that are
	cut    int                         // parts of which some were

	stopped       atomic.Pointer[error] // why no other file can be written either
	mu            sync.Mutex            // for failures and met
	written, same int                   // tables
	bytes         int64                 // of those written
	bare          int                   // recordings without tables
	seen          int                   // recordings of the formats wanted, those of other shards too
	hidden        atomic.Bool           // not all of the source could be read
	unended       string                // a tar that may have been cut
	met           map[string]bool       // names of tables that recordings have
}

func (x *exporter) run(ctx context.Context, a *archive, source, destination string, jobs jobCount) error {
	defer x.meter.close()
	x.source, x.destination, a.onRead, x.met, x.a = source, destination, x.meter.onRead, map[string]bool{}, a
	x.named, x.mode, x.merged = export.Places{}, 0o666, map[string][]*export.Member{}
	var err error
	if x.root, err = a.resolve(ctx, sourceOf(source)); err != nil {
		return fmt.Errorf("%s: %w", source, reason(source, err))
	}
	if err := makeDestination(source, destination); err != nil {
		return err
	}
	if x.lake, err = x.openDestination(); err != nil {
		return err
	}
	defer x.lake.Close()
	if err := x.begin(); err != nil {
		return err
	}
	x.lake.RemoveAbandoned()
	if x.to, err = export.New(destination, a.cache, int(jobs)); err != nil {
		return err
	}
	write := x.each
	if x.form.Merge {
		write = x.merge
	}
	args := []string{source}
	stop := a.measure(ctx, x.meter, args, x.wants)
	written, err := write(ctx, jobs, x.targets(a.find(ctx, args, x.hide)))
	stop()
	x.meter.close()
	if ctx.Err() != nil {
		return &interruption{x.meter.far() + " exported; the same command goes on from there"}
	}
	fmt.Fprintf(x.env.stderr, "%s: %s, %s written, %d unchanged, %d failed\n", count(x.meter.done.recordings, "recording", "recordings"),
		written, humanSize(x.bytes), x.same, x.n)
	if why := x.stopped.Load(); why != nil {
		return *why
	}
	if err := cmp.Or(err, x.nothing()); err != nil {
		return err
	}
	if x.bare > 0 {
		fmt.Fprintf(x.env.stderr, "recfs: %s no tables; 'recfs info' tells what is missing\n", count(x.bare, "recording has", "recordings have"))
	}
	pruned := error(nil)
	if x.prune != "" {
		pruned = x.removeGone(ctx)
	}
	if err := cmp.Or(x.finish(ctx, pruned), pruned); err != nil {
		return err
	}
	return x.result()
}

// each writes a file for each table of a recording.
func (x *exporter) each(ctx context.Context, jobs jobCount, list iter.Seq[target]) (written string, err error) {
	inOrder(jobs, list, func(t target) outcome { return x.export(ctx, t) }, func(o outcome) { x.tell(ctx, o) })
	return count(x.written, "table", "tables"), nil
}

// nothing returns why there is nothing to export, unless nothing could be read. It tells of tables
// that were asked for and that no recording has, which may be misspelt.
func (x *exporter) nothing() error {
	if x.seen == 0 && x.n == 0 {
		return usagef("export: there are no recordings%s in %s", ofFormats(x.formats), x.source)
	}
	var missing []error
	have := cmp.Or(strings.Join(slices.Sorted(maps.Keys(x.met)), ", "), "none")
	for _, t := range x.tables {
		if !x.met[t] && (x.prune == "" || !x.lake.HasTable(t)) {
			missing = append(missing, usagef("none of these recordings has a table %q; they have %s", t, have))
		}
	}
	var err error
	if n := len(missing) - 1; n >= 0 && n+1 == len(x.tables) && (x.n == 0 || len(x.met) > 0) && x.shard.N == 1 {
		missing, err = missing[:n], missing[n]
	}
	for _, err := range missing {
		x.env.report(err)
	}
	return err
}

// ofFormats names the formats that are wanted, if not all are.
func ofFormats(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " of the format " + strings.Join(list, " or ")
}

// meet takes note of a table that a recording has.
func (x *exporter) meet(table string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.met[table] = true
}

// stop ends the export if a file could not be written, and no other can.
func (x *exporter) stop(err error) {
	if err == nil || x.stopped.Load() != nil {
		return
	}
	if isFull(err) {
		err = fmt.Errorf("%s has no room for more; the same command goes on from there", x.destination)
	} else {
		f, failed := outfile.Create(filepath.Join(x.destination, "any"), 0o600)
		if failed == nil {
			f.Discard()
			return
		}
		err = notWritten(x.destination, errors.Unwrap(failed)) // not the name of this file
	}
	x.stopped.Store(&err)
}

// pathOf returns where a recording lies in the source. A source that is a recording lies in itself
// under its name.
func (x *exporter) pathOf(name string) string {
	switch {
	case name == x.source:
		return base(name)
	case x.source == ".":
		return name
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, x.source), "/")
}

// wants reports whether tables of a recording are to be written.
func (x *exporter) wants(f found) bool {
	return f.isRecording && isAmong(x.formats, f.Format) && x.ours(f)
}

// isAmong reports whether a list of what is wanted has a name. An empty one wants all.
func isAmong(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

// ours reports whether this is the part of the export for what was found.
func (x *exporter) ours(f found) bool { return export.Shard(x.shard).Has(x.pathOf(f.name)) }

// damaged tells of a container that is: recordings in it may be missing, whatever their format.
func (x *exporter) damaged(f found) {
	told := catalogue.ContainerSummary(f.name, f.Description, f.damage).Error
	x.hide(f.name, errors.New(told))
	x.print(exportLine{jsonPath: newJSONPath(x.pathOf(f.name)), Format: f.Format, Error: told})
}

// A target is a recording with the name of its files.
type target struct {
	found
	to export.Recording
}

// targets yields the recordings of a walk that are wanted.
func (x *exporter) targets(walk iter.Seq[found]) iter.Seq[target] {
	return func(yield func(target) bool) {
		for f := range walk {
			if x.stopped.Load() != nil {
				return
			}
			if len(f.damage) > 0 && x.ours(f) {
				x.damaged(f)
			}
			if f.Unended {
				x.unended = f.name
			}
			if f.isRecording && isAmong(x.formats, f.Format) {
				if x.seen++; x.seen == 1 && !x.join() {
					return
				}
			}
			if !x.wants(f) {
				continue
			}
			at := x.pathOf(f.name)
			r := export.Recording{Path: at, Mode: modeOfCopy(f.entry, 0o666) &^ 0o111}
			x.named.Add(f.Format, at)
			x.alone = f.name == x.source
			x.mode &= r.Mode
			if !yield(target{f, r}) {
				return
			}
		}
	}
}

// join notes whose tables there will be, before there are any.
func (x *exporter) join() bool {
	err := x.lake.Join()
	if x.stop(err); err != nil {
		err = notWritten(x.destination, err)
		x.stopped.CompareAndSwap(nil, &err)
	}
	return err == nil
}

// An outcome is what became of a recording.
type outcome struct {
	target
	files  []export.File
	member *export.Member // of parts
	bare   bool           // it has no tables
	table  string         // that failed, "" if all did
	err    error
}

func (x *exporter) export(ctx context.Context, n target) outcome {
	x.meter.begin(n.Stored)
	dir, err := archives.Current(ctx, n.entry.Dir)
	done := outcome{target: n, err: err}
	if r, ok := archives.RecordingOf(dir); ok && err == nil {
		n.to.Recording = r
		done.bare = true
		done.files, done.err = x.to.Export(ctx, n.to, func(table string) bool {
			done.bare = false
			x.meet(table)
			return x.stopped.Load() == nil && isAmong(x.tables, table)
		})
		for _, f := range done.files {
			x.stop(f.Err)
		}
		if done.err == nil {
			x.a.catalogue.Keep(ctx, r)
		}
	}
	if ctx.Err() == nil {
		x.meter.finish(1, n.Stored)
	}
	return done
}

// An exportLine is what export --json prints of a table, of a recording that does not open, or of a
// container that is damaged.
type exportLine struct {
	jsonPath
	Format    string `json:"format"`
	Table     string `json:"table,omitempty"`
	File      string `json:"file,omitempty"`
	FileHex   string `json:"file_hex,omitempty"`
	Rows      *int64 `json:"rows,omitempty"` // of a file that was written
	Size      *int64 `json:"size,omitempty"`
	Unchanged bool   `json:"unchanged"`
	Removed   bool   `json:"removed,omitempty"`
	Error     string `json:"error,omitempty"`
}

// tell tells what became of a recording.
func (x *exporter) tell(ctx context.Context, done outcome) {
	if ctx.Err() != nil {
		return
	}
	switch {
	case done.err != nil && done.table != "":
		x.fail(path.Join(done.name, "tables", done.table), done.err)
		x.print(exportLine{jsonPath: newJSONPath(done.to.Path), Format: done.Format, Table: done.table, Error: done.err.Error()})
	case done.err != nil:
		if _, ok := errors.AsType[*archives.NotOpenError](done.err); ok {
			x.fail(done.name, done.err)
		} else {
			x.hide(done.name, done.err)
		}
		x.print(exportLine{jsonPath: newJSONPath(done.to.Path), Format: done.Format, Error: reason(done.name, done.err).Error()})
	case done.bare:
		x.bare++
	}
	if done.member != nil {
		x.merged[done.Format] = append(x.merged[done.Format], done.member)
	}
	for i := range done.files {
		f := &done.files[i]
		line := exportLine{jsonPath: newJSONPath(done.to.Path), Format: done.Format, Table: f.Table, File: f.Path, FileHex: formats.HexOf(f.Path), Unchanged: f.Same}
		switch {
		case f.Err != nil:
			x.fail(path.Join(done.name, "tables", f.Table), f.Err)
			line.Error = f.Err.Error()
		case f.Same:
			x.same++
		default:
			x.written++
			x.bytes += f.Size
			line.Rows, line.Size = &f.Rows, &f.Size
		}
		x.print(line)
	}
}

func (x *exporter) print(line exportLine) {
	if x.asJSON {
		x.meter.print(func() { _ = writeJSON(x.env.stdout, line) })
	}
}

// hide reports what could not be looked into.
func (x *exporter) hide(name string, err error) {
	x.hidden.Store(true)
	x.fail(name, err)
}

// fail reports what could not be exported. The walk and the exports call it at the same time.
func (x *exporter) fail(name string, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.meter.print(func() { x.failures.fail(name, err) })
}
