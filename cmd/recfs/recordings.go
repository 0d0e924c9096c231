package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	iofs "io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/formats/catalogue"
	"recfs/formats/source/remote"
	"recfs/fs"
	"recfs/nodes"
)

// A found is a recording, a damaged container, or a file that belongs to no recording, and its name
// for people.
type found struct {
	name  string
	entry nodes.Entry

	archives.Description // of a recording or a container
	isRecording          bool
	damage               []formats.Problem // of a container; none: it is something else
	container            bool              // it is a whole container; its file, if it has one, is the bytes of one in a zip, which have a checksum
}

// find yields everything that the arguments name, of a mount what its source has. A damaged
// container comes before what it holds. What cannot be looked into goes to fail.
func (a *archive) find(ctx context.Context, args []string, fail func(string, error)) iter.Seq[found] {
	return func(yield func(found) bool) {
		for _, name := range args {
			e, err := a.resolve(walking(ctx), sourceOf(name))
			if err != nil {
				fail(name, err)
				continue
			}
			if !findBelow(ctx, cleanName(name), e, yield, fail) {
				return
			}
		}
	}
}

func findBelow(ctx context.Context, name string, e nodes.Entry, yield func(found) bool, fail func(string, error)) bool {
	if e.Dir == nil {
		if err := archives.Unread(ctx, e.File); err != nil {
			fail(name, err)
			return true
		}
		return e.File == nil || yield(found{name: name, entry: e})
	}
	if d, ok := archives.Describe(ctx, e.Dir); ok {
		return yield(found{name: name, entry: e, Description: d, isRecording: true})
	}
	switch d, problems, summed := archives.DescribeContainer(ctx, e.Dir); {
	case len(problems) > 0:
		if !yield(found{name: name, entry: e, Description: d, damage: problems}) {
			return false
		}
	case summed != nil || d.Unended:
		if !yield(found{name: name, entry: nodes.Entry{Name: e.Name, Attr: e.Attr, File: summed}, Description: d, container: true}) {
			return false
		}
	}
	if err := archives.Walk(ctx, e.Dir); err != nil {
		fail(name, err)
		return true
	}
	for child, err := range nodes.Entries(ctx, e) {
		below := joinName(name, child.Name)
		if err != nil {
			fail(below, err)
		} else if !findBelow(ctx, below, child, yield, fail) {
			return false
		}
	}
	return true
}

// amount returns how much of what find yields is wanted: how many recordings, and the bytes of
// these and of other files. What cannot be looked into is reported by the work itself.
func (a *archive) amount(ctx context.Context, args []string, wanted func(found) bool) (all amount) {
	for f := range a.find(ctx, args, func(string, error) {}) {
		switch {
		case f.container || !wanted(f):
		case f.isRecording:
			all.recordings++
			all.bytes += f.Stored
		case f.entry.File != nil:
			if n, err := f.entry.File.Size(ctx); err == nil {
				all.bytes += n
			}
		}
	}
	return all
}

// everything is what check and cp want.
func everything(found) bool { return true }

// onDisk reports whether the arguments are all on disk and what is says, or URLs.
func onDisk(args []string, is func(iofs.FileInfo) bool) bool {
	return !slices.ContainsFunc(args, func(name string) bool {
		if remote.IsURL(name) {
			return false
		}
		info, err := os.Stat(sourceOf(name))
		return err != nil || !is(info)
	})
}

// measured calls work, which ends m, and lets m know meanwhile what the arguments name. Where one
// leads into a recording nothing is known: its files have no size before they are made.
func (a *archive) measured(ctx context.Context, m *meter, args []string, wanted func(found) bool, work func()) error {
	m.change(func() { m.traffic = a.remoteTraffic })
	counting, stop := context.WithCancel(ctx)
	var counter sync.WaitGroup
	counter.Go(func() {
		if !m.drawn() || !onDisk(args, func(iofs.FileInfo) bool { return true }) {
			return
		}
		if all := a.amount(counting, args, wanted); counting.Err() == nil {
			m.change(func() { m.all, m.counted = all, true })
		}
	})
	work()
	stop()
	counter.Wait()
	m.close()
	return ctx.Err()
}

// summaries yields what is known of the recordings below name, a directory, a recording or a mount.
func (a *archive) summaries(ctx context.Context, name string) iter.Seq2[catalogue.Summary, error] {
	return func(yield func(catalogue.Summary, error) bool) {
		if fs.Mounted(name) {
			mountSummaries(ctx, name, yield)
			return
		}
		e, err := a.resolve(walking(ctx), sourceOf(name))
		if err != nil || e.Dir == nil {
			if err == nil {
				err = errors.New("not a directory or a recording")
			}
			yield(catalogue.Summary{}, err)
			return
		}
		a.catalogue.Summaries(ctx, e.Dir)(yield)
	}
}

// mountSummaries reads the catalogue of a mount.
func mountSummaries(ctx context.Context, dir string, yield func(catalogue.Summary, error) bool) {
	f, err := os.Open(filepath.Join(dir, catalogue.Name))
	if err != nil {
		yield(catalogue.Summary{}, err)
		return
	}
	defer f.Close()
	for lines := json.NewDecoder(f); ; {
		var s catalogue.Summary
		err := lines.Decode(&s)
		if err == nil {
			err = ctx.Err()
		}
		if err == io.EOF || !yield(s, err) || err != nil {
			return
		}
	}
}
