package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"recfs/cache"
	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/formats/catalogue"
	"recfs/formats/recordings"
	"recfs/formats/shared"
	"recfs/formats/source"
	"recfs/formats/source/remote"
	"recfs/nodes"
)

// An archive opens sources with one cache for all of them.
type archive struct {
	formats   []formats.Format
	options   archives.Options
	cache     *cache.Cache
	catalogue *catalogue.Catalogue
	mapres    mapresSearch
	log       *slog.Logger
	logged    string      // where that goes
	records   *logRecords // of log
	mu        sync.Mutex  // guards what follows
	sources   map[sourcePlace]nodes.Entry
	folders   map[string]opened // by path or URL
	remote    remote.Options
	servers   remoteServers
	shared    *shared.Index     // nil: there is none
	globbed   map[string]string // written before work begins: for each name that a pattern stands for, the directory where that begins
	closers   []func()
	input     func() (string, error) // takes standard input and returns what into; nil: - is a name as any other
}

// formatNamed returns a format, or the zero value.
func (a *archive) formatNamed(name string) formats.Format {
	for _, f := range a.formats {
		if f.Name == name {
			return f
		}
	}
	return formats.Format{}
}

func (a *archive) close() {
	for _, c := range slices.Backward(a.closers) {
		c()
	}
}

// source returns what lies at name on disk: an archive, a recording, or a file that is none.
func (a *archive) source(ctx context.Context, name string) (nodes.Entry, error) {
	if remote.IsURL(name) {
		return a.lookUpRemote(ctx, name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nodes.Entry{}, err
	}
	at, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nodes.Entry{}, err
	}
	p, dir := sourcePlace{at, "."}, name
	if !info.IsDir() {
		dir = filepath.Dir(at)
		p = sourcePlace{dir, filepath.Base(at)}
	}
	return a.sourceAt(ctx, p, func() (opened, error) { return a.open(dir) })
}

// A sourcePlace is where a source lies: a file in a directory, or a directory, whose file is ".".
type sourcePlace struct{ dir, file string }

// sourceAt returns the source at a place. All arguments of a command that lie in one directory
// share that, so that what is in it is decoded once; open opens it.
func (a *archive) sourceAt(ctx context.Context, p sourcePlace, open func() (opened, error)) (e nodes.Entry, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e, ok := a.sources[p]; ok {
		return e, nil
	}
	d, ok := a.folders[p.dir]
	if !ok {
		if d, err = open(); err != nil {
			return e, err
		}
		a.folders[p.dir] = d
	}
	e, err = d.source(ctx, p.file)
	if err == nil && e.Dir != nil {
		a.sources[p] = e
	}
	return e, err
}

// An opened is a directory that was opened. All files in it that are sources share it, as each
// takes a descriptor.
type opened struct {
	name    string // of the directory
	remote  bool
	archive archives.Root
	root    nodes.Dir
}

func (a *archive) open(dir string) (opened, error) {
	local, err := source.OpenLocal(dir)
	if err != nil {
		return opened{}, err
	}
	a.closers = append(a.closers, func() { local.Close() })
	return a.openTree(local, filepath.Base(local.Path())), nil
}

// openTree opens the directory that tree is.
func (a *archive) openTree(tree source.Tree, name string) opened {
	_, local := tree.(*source.Local)
	all := archives.New(tree, a.formats, a.cache, a.options)
	return opened{path.Base(name), !local, all, a.catalogue.Root(all)}
}

// source returns the source that a file of d is, or d itself for ".".
func (d opened) source(ctx context.Context, file string) (nodes.Entry, error) {
	if file == "." {
		return d.entry(ctx, d.root)
	}
	recording, err := d.archive.File(ctx, file)
	if errors.Is(err, errors.ErrUnsupported) {
		return nodes.Lookup(ctx, d.root, file)
	}
	if err != nil {
		return nodes.Entry{}, err
	}
	return d.entry(ctx, recording)
}

// entry returns the entry of a source in d.
func (d opened) entry(ctx context.Context, source nodes.Dir) (nodes.Entry, error) {
	if _, folder := archives.FolderOf(source); folder && d.remote {
		return nodes.Entry{Name: d.name, Dir: source}, nil // its time would take a request
	}
	self, err := nodes.Child(ctx, source, ".")
	return nodes.Entry{Name: d.name, Attr: self.Attr, Dir: source}, err
}

// resolve finds what name means, as lookUp does. Of one that is not there the error may name
// another.
func (a *archive) resolve(ctx context.Context, name string) (nodes.Entry, error) {
	e, err := a.lookUp(ctx, name)
	if errors.Is(err, iofs.ErrNotExist) && !remote.IsURL(name) {
		err = fmt.Errorf("%w%s", syscall.ENOENT, a.suggestion(ctx, name))
	}
	return e, err
}

// lookUp finds what name means, unless ctx has ended. With a slash at its end that is a directory,
// as a recording is one.
func (a *archive) lookUp(ctx context.Context, name string) (nodes.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nodes.Entry{}, err // the caller may go on with many names
	}
	name, err := a.behindInput(name)
	if err != nil {
		return nodes.Entry{}, err
	}
	e, ok := a.lookUpGlobbed(ctx, name)
	switch {
	case ok:
	case remote.IsURL(name):
		e, err = a.lookUpRemote(ctx, name)
	default:
		e, err = a.lookUpLocal(ctx, name)
	}
	if err == nil && e.Dir == nil && meansDir(name) {
		return nodes.Entry{}, syscall.ENOTDIR
	}
	return e, err
}

// lookUpLocal finds what a path means: the longest part of it that exists on disk is the source,
// the rest is a path below that.
func (a *archive) lookUpLocal(ctx context.Context, name string) (nodes.Entry, error) {
	source, inside, err := splitPath(name)
	if err != nil {
		return nodes.Entry{}, err
	}
	e, err := a.source(ctx, source)
	if err != nil || inside == "." {
		return e, err
	}
	return inSource(ctx, e, inside)
}

// inSource returns what a path in a source leads to.
func inSource(ctx context.Context, source nodes.Entry, inside string) (nodes.Entry, error) {
	if source.Dir == nil {
		return nodes.Entry{}, syscall.ENOTDIR
	}
	found, err := nodes.Follow(ctx, source.Dir, inside)
	return found.Inherit(source.Attr), err
}

// errNoRecording is the error of what is none.
var errNoRecording = errors.New("not a recording")

// recording opens the recording that a name means, of a mount that of its source.
func (a *archive) recording(ctx context.Context, name string) (e nodes.Entry, f formats.Format, o *recordings.Opened, err error) {
	if e, err = a.resolve(ctx, sourceOf(name)); err != nil {
		return e, f, nil, err
	}
	now, err := archives.Current(ctx, e.Dir)
	r, ok := archives.RecordingOf(now)
	if !ok {
		return e, f, nil, cmp.Or(err, errNoRecording)
	}
	o, err = r.Open(ctx)
	return e, r.Format(), o, err
}

// suggestion is the end of a message about a name that is not there.
func (a *archive) suggestion(ctx context.Context, name string) string {
	name, _ = a.behindInput(name) // it was looked up
	source, inside, err := splitPath(name)
	if err != nil || filepath.Base(name) != path.Base(inside) { // it is a link to nothing
		return ""
	}
	e, err := a.source(ctx, source)
	if err != nil || e.Dir == nil {
		return ""
	}
	return suggestName(ctx, e, inside)
}
