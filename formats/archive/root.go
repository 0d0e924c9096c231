package archive

import (
	"cmp"
	"context"
	"errors"
	iofs "io/fs"
	"path"
	"sync"
	"sync/atomic"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// New presents a tree of files with every recording of the listed formats replaced
// by its tree. What is neither a recording nor a directory appears as it is.
// The names of a directory are listed without opening anything in it.
func New(tree source.Tree, list []formats.Format, c *cache.Cache, opt Options) Root {
	sniffing := opt
	sniffing.Sniff = true
	return &rootDir{a: newArchive(tree, list, c, opt, 0), one: sync.OnceValue(func() *archive {
		return newArchive(tree, list, c, sniffing, 0)
	})}
}

// A Root is what New returns.
type Root interface {
	nodes.Volatile
	// Current returns the directory that the root stands for at present.
	Current(ctx context.Context) (nodes.Dir, error)
	// File returns the tree of one recording, the file called name. If its name says nothing its first
	// bytes do; if they say nothing either, the error is errors.ErrUnsupported.
	File(ctx context.Context, name string) (nodes.Dir, error)
}

var _ Root = (*rootDir)(nil)

// Current returns the directory that dir, of an archive, stands for at present.
func Current(ctx context.Context, dir nodes.Dir) (nodes.Dir, error) {
	switch d := dir.(type) {
	case Root:
		return d.Current(ctx)
	case topDir:
		return d.Resolve(ctx)
	}
	return dir, nil
}

// A rootDir is the root of an archive: the source directory, or the recording
// that the source is.
type rootDir struct {
	a    *archive
	file string          // the source is this one file; "" if it is the directory
	one  func() *archive // of which each file may be the source

	last atomic.Pointer[rootLook] // nil: none, or not of a container
}

// A rootLook is what was found of a container that is the root: the name of each member asks for it.
type rootLook struct {
	info  source.Info
	entry nodes.Entry
}

// File implements Root.
func (t *rootDir) File(ctx context.Context, name string) (nodes.Dir, error) {
	t = &rootDir{a: t.one(), file: name, one: t.one}
	e, err := t.a.lookup(ctx, folder{t.a, path.Dir(name)}, path.Base(name))
	if err != nil {
		return nil, err
	}
	if e.Dir == nil {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
	}
	return t, nil
}

// Current returns the root as it is now.
func (t *rootDir) Current(ctx context.Context) (nodes.Dir, error) {
	e, err := t.entry(ctx)
	return e.Dir, err
}

// entry returns the entry of the root as it is now.
func (t *rootDir) entry(ctx context.Context) (nodes.Entry, error) {
	dir, name := ".", "."
	if t.file != "" {
		dir, name = path.Split(t.file)
		dir = path.Clean(dir)
	}
	info, err := t.a.tree.Stat(ctx, path.Join(dir, name))
	if err != nil {
		return nodes.Entry{}, err
	}
	if last := t.last.Load(); last != nil && last.info == info {
		return last.entry, nil
	}
	e, err := t.a.entry(ctx, folder{t.a, dir}, name, info)
	if err == nil && e.Dir == nil { // the file is no recording any more, or cannot be read at present
		_, err = t.a.fileEntry(ctx, t.file, info)
		err = cmp.Or(err, source.Stale(t.file))
	}
	if _, ok := e.Dir.(containerDir); ok && err == nil {
		t.last.Store(&rootLook{info, e})
	}
	return e, err
}

func (t *rootDir) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	if name == "." {
		return t.entry(ctx)
	}
	d, err := t.Current(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	e, err := nodes.Child(ctx, d, name)
	if _, ok := d.(folder); ok {
		return e, err
	}
	_, defers := d.(childOpener)
	switch {
	case e.Dir != nil && !defers:
		e.Dir = deferTop(rootChild{d, e.Name}, e.Dir)
	case e.File != nil:
		e.File = rootFile{d, e.Name}
	}
	return e, err
}

func (t *rootDir) Snapshot(ctx context.Context) (nodes.Dir, error) {
	d, err := t.Current(ctx)
	if err != nil {
		return nil, err
	}
	if v, ok := d.(nodes.Volatile); ok {
		return v.Snapshot(ctx)
	}
	return d, nil
}

func (t *rootDir) Len(ctx context.Context) (int, error) {
	d, err := t.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	return d.Len(ctx)
}

func (t *rootDir) At(ctx context.Context, i int) (nodes.Entry, error) {
	d, err := t.Snapshot(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	return d.At(ctx, i)
}

func (t *rootDir) Find(ctx context.Context, name string) (int, error) {
	d, err := t.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	return d.Find(ctx, name)
}

// A rootFile is a file in a recording that is the root, like rootChild.
type rootFile struct {
	recording nodes.Dir
	name      string
}

func (t rootFile) file(ctx context.Context) (nodes.File, error) {
	e, err := nodes.Child(ctx, t.recording, t.name)
	return e.File, err
}

// GrewFrom implements nodes.Grower.
func (t rootFile) GrewFrom(earlier nodes.Grower) bool {
	e, _ := earlier.(rootFile)
	now, before := rootChild(t).sources(rootChild(e))
	return before != nil && now.GrewFrom(before)
}

// Replaces implements nodes.Grower.
func (t rootFile) Replaces(earlier nodes.Grower) bool {
	e, _ := earlier.(rootFile)
	now, before := rootChild(t).sources(rootChild(e))
	return before != nil && now.Replaces(before)
}

func (t rootFile) Size(ctx context.Context) (int64, error) {
	f, err := t.file(ctx)
	if err != nil {
		return 0, err
	}
	return f.Size(ctx)
}

func (t rootFile) Open(ctx context.Context) (nodes.Content, error) {
	f, err := t.file(ctx)
	if err != nil {
		return nil, err
	}
	return f.Open(ctx)
}
