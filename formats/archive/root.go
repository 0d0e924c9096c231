package archive

import (
	"cmp"
	"context"
	"errors"
	iofs "io/fs"
	"path"
	"sync"

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
	return newRoot(&root{a: newArchive(tree, list, c, opt, 0), one: sync.OnceValue(func() *Archive {
		return newArchive(tree, list, c, sniffing, 0)
	})})
}

// A Root is what New returns.
type Root interface {
	nodes.Volatile
	// Current returns the directory that the root stands for at present.
	Current(ctx context.Context) (nodes.Dir, error)
	// Own returns the entry called name in that directory, and the directory; nil: it is no folder.
	Own(ctx context.Context, name string) (nodes.Entry, nodes.Dir, error)
	// File returns the tree of one recording, the file called name. If its name says nothing its first
	// bytes do; if they say nothing either, the error is errors.ErrUnsupported.
	File(ctx context.Context, name string) (nodes.Dir, error)
}

// Current returns the directory that dir, of an archive, stands for at present.
func Current(ctx context.Context, dir nodes.Dir) (nodes.Dir, error) {
	switch d := dir.(type) {
	case Root:
		return d.Current(ctx)
	case childDir:
		return d.Resolve(ctx)
	}
	return dir, nil
}

// A rootDir is the root of an archive.
type rootDir struct{ nodes.Deferred[*root] }

func newRoot(t *root) rootDir { return rootDir{nodes.Deferred[*root]{Target: t}} }

// A root is the source directory, or the recording that the source is.
type root struct {
	a    *Archive
	file string          // the source is this one file; "" if it is the directory
	one  func() *Archive // of which each file may be the source
}

// File implements Root.
func (d rootDir) File(ctx context.Context, name string) (nodes.Dir, error) {
	t := &root{a: d.Target.one(), file: name, one: d.Target.one}
	e, err := t.a.lookup(ctx, name, path.Base(name))
	if err != nil {
		return nil, err
	}
	if e.Dir == nil {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
	}
	return newRoot(t), nil
}

// Current returns the root as it is now.
func (d rootDir) Current(ctx context.Context) (nodes.Dir, error) {
	e, err := d.Target.entry(ctx)
	return e.Dir, err
}

// Own implements Root.
func (d rootDir) Own(ctx context.Context, name string) (nodes.Entry, nodes.Dir, error) {
	self, err := d.Target.entry(ctx)
	f, ok := self.Dir.(folder)
	if err != nil || !ok {
		return nodes.Entry{}, nil, err
	}
	e, err := f.Lookup(ctx, name)
	return e, f, err
}

// entry returns the entry of the root as it is now.
func (t *root) entry(ctx context.Context) (nodes.Entry, error) {
	at := cmp.Or(t.file, ".")
	info, err := t.a.tree.Stat(ctx, at)
	if err != nil {
		return nodes.Entry{}, err
	}
	e, err := t.a.entry(ctx, at, path.Base(at), info)
	if err == nil && e.Dir == nil { // the file is no recording any more, or cannot be read at present
		_, err = t.a.File(ctx, t.file, info)
		err = cmp.Or(err, source.Stale(t.file))
	}
	return e, err
}

// Resolve returns what is in the root as it is now.
func (t *root) Resolve(ctx context.Context) (nodes.Dir, error) {
	e, err := t.entry(ctx)
	if v, ok := e.Dir.(nodes.Volatile); ok && err == nil {
		return v.Snapshot(ctx)
	}
	return e.Dir, err
}

// Snapshot returns what is in the root as it is now.
func (d rootDir) Snapshot(ctx context.Context) (nodes.Dir, error) { return d.Resolve(ctx) }

// Lookup returns the entry of that name as it is now.
func (d rootDir) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	self, err := d.Target.entry(ctx)
	if err != nil || name == "." {
		return self, err
	}
	e, err := nodes.Child(ctx, self.Dir, name)
	top, ok := self.Dir.(parent)
	switch {
	case !ok: // a folder
	case e.File != nil:
		e.File = childFile{nodes.DeferredFile[fileRef]{Target: fileRef{child{top: top, path: e.Name}}}}
	case e.Dir != nil && !top.deep(): // else it stands for itself
		e.Dir = child{top: top, path: e.Name}.standIn(e.Dir)
	}
	return e, err
}
