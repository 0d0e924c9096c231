package archive

import (
	"context"
	iofs "io/fs"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// A View asks an archive for what its tree does not tell. It is a value, equal to another of the
// same archive. Names are paths in the source.
type View struct{ a *archive }

// ViewOf returns the View of the archive that dir, the directory of an entry, is a folder, a
// recording or a container of.
func ViewOf(dir nodes.Dir) (v View, ok bool) {
	switch d := dir.(type) {
	case folder:
		return View{d.a}, true
	case memberDir:
		return View{d.d.a}, true
	case recording:
		return View{d.a}, true
	case containerDir:
		return View{d.a}, true
	}
	return View{}, false
}

// FolderOf reports whether dir is a directory of the source, and where it lies there.
func FolderOf(dir nodes.Dir) (name string, ok bool) {
	switch d := dir.(type) {
	case folder:
		return d.path, true
	case memberDir:
		return d.d.path, true
	}
	return "", false
}

// Formats returns the formats of the archive.
func (v View) Formats() []formats.Format { return v.a.list }

// ID names the source for what is kept of it on disk: where it lay when it was seen first. It is
// "" if it has no such name, as that of a container.
func (v View) ID() string {
	if v.a.depth > 0 {
		return ""
	}
	return v.a.base()
}

// Stat returns what the source tells of a file, or of a link itself.
func (v View) Stat(name string) (iofs.FileInfo, error) { return v.a.lstat(name) }

// Settled reports whether the last change of a directory is so old that another one would leave
// another time.
func Settled(dir iofs.FileInfo) bool { return time.Since(dir.ModTime()) >= settled }

// Lookup returns the entry called name in the directory dir.
func (v View) Lookup(ctx context.Context, dir, name string) (nodes.Entry, error) {
	return v.a.lookup(ctx, folder{v.a, dir}, name)
}

// IsPlain reports whether a file is shown as it is, as its name alone tells.
func (v View) IsPlain(name string) bool {
	mode, ok := v.a.typeByName(name, typeFile)
	return ok && !mode.IsDir()
}

// File returns the entry of the regular file that info describes. Unlike in a look-up it is an error
// if what the file is cannot be read.
func (v View) File(ctx context.Context, name string, info iofs.FileInfo) (nodes.Entry, error) {
	if _, err := v.a.kind(ctx, kindKey{name, source.VersionOf(info)}); err != nil {
		return nodes.Entry{}, err
	}
	return v.a.fileEntry(ctx, name, info)
}

// Names returns the sorted names in the directory dir.
func (v View) Names(ctx context.Context, dir string) (Names, error) {
	l, err := v.a.listing(ctx, dir)
	return Names{l}, err
}

// Names are those of the files, directories and links in a directory.
type Names struct{ l *listing }

// Len returns how many there are.
func (n Names) Len() int { return n.l.len() }

// At returns a name and the type that the directory states.
func (n Names) At(i int) (name string, typ iofs.FileMode) {
	switch n.l.types[i] {
	case typeDir:
		typ = iofs.ModeDir
	case typeLink:
		typ = iofs.ModeSymlink
	}
	return n.l.name(i), typ
}

// A Recording is one version of a recording. It is a value, equal to another of the same version.
type Recording struct{ r recording }

// RecordingOf reports whether dir, the directory of an entry, is a recording, and which.
func RecordingOf(dir nodes.Dir) (Recording, bool) {
	r, ok := dir.(recording)
	return Recording{r}, ok
}

// Format returns its format.
func (r Recording) Format() formats.Format { return r.r.format() }

// Path returns where it lies in the source.
func (r Recording) Path() string { return r.r.key.path }

// Version returns the version of its file or directory; the size is that of all its files.
func (r Recording) Version() source.Version { return r.r.key.v }

// Stamp returns the stamp of all its files.
func (r Recording) Stamp() formats.Stamp { return r.r.key.stamp() }

// ID names it for what is kept of it on disk, "" if it has no such name.
func (r Recording) ID() string { return r.r.a.sourceID(r.r.key.path) }

// Segments returns the files of a recording that is a directory.
func (r Recording) Segments() (files []source.FileKey, ok bool) {
	if r.r.key.segments == "" {
		return nil, false
	}
	for _, s := range parseSegments(r.r.key.segments) {
		files = append(files, source.FileKey{Path: s.at, Version: s.v})
	}
	return files, true
}

// Tree returns the tree that its format makes of it. Options.Indexed does not hear of it.
func (r Recording) Tree(ctx context.Context) (nodes.Dir, error) { return r.r.a.trees.Get(ctx, r.r.key) }

// OpenWith opens a recording for the caller alone, with a cache of its own. Unlike Tree it has an
// error for one that does not open, and an [UnreadError] if it could not be read this time.
func (r Recording) OpenWith(ctx context.Context, c *cache.Cache) (nodes.Dir, error) {
	a, k := r.r.a, r.r.key
	src, reads := a.source(k)
	var err error
	if k.packed {
		_, err = a.decompress(ctx, k, &src, reads)
	}
	var dir nodes.Dir
	if err == nil {
		dir, err = a.openFormat(ctx, r.Format(), src, c)
	}
	if err != nil && !notSaved(err) && ctx.Err() == nil && reads.failure() != nil {
		return nil, &UnreadError{reads.failure()}
	}
	return dir, err
}

// An UnreadError is that of a source which could not be read. It tells nothing of what the source
// holds.
type UnreadError struct{ Err error }

func (e *UnreadError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the read.
func (e *UnreadError) Unwrap() error { return e.Err }

// A Container is one version of a file that holds files.
type Container struct{ n containerDir }

// ContainerOf reports whether dir, the directory of an entry, is a container, and which.
func ContainerOf(dir nodes.Dir) (Container, bool) {
	n, ok := dir.(containerDir)
	return Container{n}, ok
}

// Stamp returns the stamp of the file.
func (c Container) Stamp() formats.Stamp { return c.n.key.stamp() }

// Dir returns what it holds: a folder, see FolderOf, or another directory if it does not open.
func (c Container) Dir(ctx context.Context) (nodes.Dir, error) { return c.n.dir(ctx) }

// A Root is what New returns.
type Root interface {
	nodes.Volatile
	// Current returns the directory that the root stands for at present.
	Current(ctx context.Context) (nodes.Dir, error)
}

var (
	_ Root  = (*rootDir)(nil)
	_ error = (*UnreadError)(nil)
)

// Current returns the directory that dir, of an archive, stands for at present.
func Current(ctx context.Context, dir nodes.Dir) (nodes.Dir, error) {
	switch d := dir.(type) {
	case Root:
		return d.Current(ctx)
	case nodes.Deferred[rootChild]:
		return d.Resolve(ctx)
	}
	return dir, nil
}

// An indexFile is the index.json of a recording, which Options.Indexed hears of.
type indexFile struct {
	nodes.File
	r recording
}

func (f indexFile) Size(ctx context.Context) (int64, error) {
	n, err := f.File.Size(ctx)
	if err == nil {
		f.r.a.opt.Indexed(ctx, Recording{f.r})
	}
	return n, err
}

func (f indexFile) Open(ctx context.Context) (nodes.Content, error) {
	c, err := f.File.Open(ctx)
	if err == nil {
		f.r.a.opt.Indexed(ctx, Recording{f.r})
	}
	return c, err
}
