package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	archives "recfs/formats/archive"
	"recfs/formats/catalogue"
	"recfs/formats/export"
	"recfs/formats/outfile"
	"recfs/nodes"
)

// An exporter writes the tables of recordings.
type exporter struct {
	*env
	tables, formats []string // none: all
	shard           shardFlag
	prune           string // "": remove nothing; pruneForce: also what seems to be a mistake
	form            export.Form
	partSize        byteSize
	viewsAt         string
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
	cut    int                         // how many parts had some of them

	stopped       atomic.Pointer[error] // why no other file can be written either
	mu            sync.Mutex            // for met
	written, same int                   // tables
	bytes         int64                 // of those written
	bare          int                   // recordings without tables
	seen          int                   // recordings of the formats wanted, those of other shards too
	hidden        atomic.Bool           // not all of the source could be read
	unended       string                // a tar that may have been cut
	met           map[string]bool       // names of tables that recordings have
}

func (x *exporter) run(ctx context.Context, a *archive, source, destination string) error {
	x.source, x.destination, a.options.OnRead, x.met, x.a = source, destination, x.meter.onRead, map[string]bool{}, a
	x.named, x.mode, x.merged = export.Places{}, 0o666, map[string][]*export.Member{}
	var err error
	if x.root, err = a.resolve(ctx, sourceOf(source)); err != nil {
		return named(source, err)
	}
	if err := makeDestination(source, destination); err != nil {
		return err
	}
	at, err := absName(sourceOf(source))
	if err == nil {
		x.lake, err = export.OpenDestination(destination, linkTarget(at), x.form, x.shard.Shard, formatList())
	}
	if err != nil {
		return err
	}
	defer x.lake.Close()
	if err := x.begin(); err != nil {
		return err
	}
	x.lake.RemoveAbandoned()
	if x.to, err = export.New(destination, a.cache, x.jobs); err != nil {
		return err
	}
	write := x.each
	if x.form.Merge {
		write = x.merge
	}
	args, written := []string{source}, ""
	if ended := a.measured(ctx, x.meter, args, x.wants, func() { written, err = write(ctx, x.targets(a.find(ctx, args, x.hide))) }); ended != nil {
		return ended
	}
	fmt.Fprintf(x.env.stderr, "%s: %s, %s written, %d unchanged, %d failed\n", count(x.meter.done.recordings, "recording", "recordings"),
		written, humanSize(x.bytes), x.same, x.failures)
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
	return cmp.Or(x.finish(ctx, pruned), pruned)
}

// each writes a file for each table of a recording.
func (x *exporter) each(ctx context.Context, list iter.Seq[outcome]) (written string, err error) {
	x.work(ctx, list, func(done *outcome) {
		done.bare = true
		done.files, done.err = x.to.Export(ctx, done.to, func(table string) bool {
			done.bare = false
			x.meet(table)
			return x.stopped.Load() == nil && isAmong(x.tables, table)
		})
		for _, f := range done.files {
			x.stop(f.Err)
		}
	})
	return count(x.written, "table", "tables"), nil
}

// nothing returns why there is nothing to export, unless nothing could be read. It tells of tables
// that were asked for and that no recording has, which may be misspelt.
func (x *exporter) nothing() error {
	if x.seen == 0 && x.failures == 0 {
		only := ""
		if len(x.formats) > 0 {
			only = " of the format " + strings.Join(x.formats, " or ")
		}
		return usagef("export: there are no recordings%s in %s", only, x.source)
	}
	var missing []error
	have := cmp.Or(strings.Join(slices.Sorted(maps.Keys(x.met)), ", "), "none")
	for _, t := range x.tables {
		if !x.met[t] && (x.prune == "" || !x.lake.HasTable(t)) {
			missing = append(missing, usagef("none of these recordings has a table %q; they have %s", t, have))
		}
	}
	var err error
	if n := len(missing) - 1; n >= 0 && n+1 == len(x.tables) && (x.failures == 0 || len(x.met) > 0) && x.shard.N == 1 {
		missing, err = missing[:n], missing[n]
	}
	for _, err := range missing {
		x.env.report(err)
	}
	return err
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
	return below(x.source, name)
}

// wants reports whether tables of a recording are to be written.
func (x *exporter) wants(f found) bool {
	return f.isRecording && isAmong(x.formats, f.Format) && x.ours(f)
}

// isAmong reports whether a list of what is wanted has a name. An empty one wants all.
func isAmong(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

// ours reports whether this is the part of the export for what was found.
func (x *exporter) ours(f found) bool { return x.shard.Has(x.pathOf(f.name)) }

// damaged tells of a container that is: recordings in it may be missing, whatever their format.
func (x *exporter) damaged(f found) {
	told := catalogue.ContainerSummary(f.name, f.Description, f.damage).Error
	x.hide(f.name, errors.New(told))
	x.print(export.Failed(x.pathOf(f.name), f.Format, "", told), "")
}

// targets yields the recordings of a walk that are wanted.
func (x *exporter) targets(walk iter.Seq[found]) iter.Seq[outcome] {
	return func(yield func(outcome) bool) {
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
			if !yield(outcome{found: f, to: r}) {
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

// An outcome is a recording to export, and what became of it.
type outcome struct {
	found
	to     export.Recording // with the name of its files
	files  []export.File
	member *export.Member // of parts
	bare   bool           // it has no tables
	table  string         // that failed, "" if all did
	err    error
}

// work calls do for the recordings of a list as they are now, and tells what became of each.
func (x *exporter) work(ctx context.Context, list iter.Seq[outcome], do func(*outcome)) {
	inOrder(x.jobs, list, func(done outcome) outcome {
		x.meter.during(ctx, done.Stored, func() {
			var dir nodes.Dir
			dir, done.err = archives.Current(ctx, done.entry.Dir)
			if r, ok := archives.RecordingOf(dir); ok && done.err == nil {
				done.to.Recording = r
				do(&done)
			}
		})
		return done
	}, func(done outcome) { x.tell(ctx, done) })
}

// tell tells what became of a recording.
func (x *exporter) tell(ctx context.Context, done outcome) {
	if ctx.Err() != nil {
		return
	}
	switch {
	case done.err != nil && done.table != "":
		x.fail(joinName(done.name, "tables", done.table), done.err)
		x.print(export.Failed(done.to.Path, done.Format, done.table, done.err.Error()), "")
	case done.err != nil:
		if _, ok := errors.AsType[*archives.NotOpenError](done.err); ok {
			x.fail(done.name, done.err)
		} else {
			x.hide(done.name, done.err)
		}
		x.print(export.Failed(done.to.Path, done.Format, "", reason(done.name, done.err).Error()), "")
	case done.bare:
		x.bare++
	}
	if done.member != nil {
		x.merged[done.Format] = append(x.merged[done.Format], done.member)
	}
	for i := range done.files {
		f := &done.files[i]
		if f.Err != nil {
			x.fail(joinName(done.name, "tables", f.Table), f.Err)
			f.Error, f.Rows, f.Size = f.Err.Error(), nil, nil
		}
		x.tellFile(f)
	}
}

// tellFile counts a file and prints what became of it.
func (x *exporter) tellFile(f *export.File) {
	switch {
	case f.Same:
		x.same++
	case f.Size != nil:
		x.written++
		x.bytes += *f.Size
	}
	x.print(*f, "")
}

// hide reports what could not be looked into.
func (x *exporter) hide(name string, err error) {
	x.hidden.Store(true)
	x.fail(name, err)
}
