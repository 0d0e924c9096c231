package archive

import (
	"context"
	iofs "io/fs"
	"path"

	"recfs/formats/source"
	"recfs/nodes"
)

// A child is what a recording, or a container that is the root, has at a path: in a container at a
// name. The values of the tree itself are made anew when that was put out of the cache and opened
// again; this one is equal to another of the same version, and keeps nothing of the tree in memory.
type child struct {
	top   parent
	path  string
	plain bool // it is a folder of a container
	whole bool // it is a recording of a container
}

// A parent is a recording or a container.
type parent interface {
	nodes.Dir
	tree(ctx context.Context) (nodes.Dir, error)
	deep() bool // what its directories hold are children of it, too
}

// entry returns the entry as the tree has it now.
func (c child) entry(ctx context.Context) (nodes.Entry, error) {
	d, err := c.top.tree(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	return nodes.Lookup(ctx, d, c.path)
}

// Resolve returns the directory as the tree has it now, but for what stands for the directories in
// it.
func (c child) Resolve(ctx context.Context) (nodes.Dir, error) {
	e, err := c.entry(ctx)
	if err != nil || !c.top.deep() {
		return e.Dir, err
	}
	d, err := nodes.Resolve(ctx, e.Dir)
	return openDir{d, c}, err
}

// below returns an entry of the directory with what stands for it if it is one itself: the kernel
// may hold that for long.
func (c child) below(e nodes.Entry) nodes.Entry {
	if e.Dir != nil && c.top.deep() {
		e.Dir = child{top: c.top, path: path.Join(c.path, e.Name)}.standIn(e.Dir)
	}
	return e
}

// standIn returns what stands for dir, to which c resolves now.
func (c child) standIn(dir nodes.Dir) nodes.Dir {
	_, versioned := dir.(nodes.Versioned)
	c.plain = !versioned && !c.top.deep()
	c.whole = nodes.IsRecording(nodes.Entry{Dir: dir})
	d := childDir{nodes.Deferred[child]{Target: c}}
	if _, ok := dir.(nodes.Volatile); ok {
		return volatileDir{d}
	}
	return d
}

// since asks the recordings that c and an earlier child of its path are in.
func (c child) since(earlier nodes.Grower) nodes.Change {
	var e child
	switch earlier := earlier.(type) {
	case childDir:
		e = earlier.Target
	case childFile:
		e = earlier.Target.child
	}
	now, ok := c.top.(nodes.Grower)
	before, was := e.top.(nodes.Grower)
	if !ok || !was || e.path != c.path {
		return nodes.Unknown
	}
	return now.Since(before)
}

// An openDir is what a child of a recording resolves to.
type openDir struct {
	nodes.Dir
	c child
}

// At implements nodes.Dir.
func (d openDir) At(ctx context.Context, i int) (nodes.Entry, error) {
	e, err := d.Dir.At(ctx, i)
	return d.c.below(e), err
}

// AppendName implements nodes.Namer.
func (d openDir) AppendName(ctx context.Context, b []byte, i int) ([]byte, iofs.FileMode, error) {
	return nodes.AppendName(ctx, d.Dir, b, i)
}

// A childDir is the directory that stands for a child.
type childDir struct{ nodes.Deferred[child] }

// Since implements nodes.Grower.
func (d childDir) Since(earlier nodes.Grower) nodes.Change { return d.Target.since(earlier) }

// A volatileDir is a childDir whose entries are looked up by name.
type volatileDir struct{ childDir }

// Lookup implements nodes.Volatile.
func (d volatileDir) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	e, err := d.Target.entry(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	e, err = nodes.Child(ctx, e.Dir, name)
	return d.Target.below(e), err
}

// Snapshot implements nodes.Volatile.
func (d volatileDir) Snapshot(ctx context.Context) (nodes.Dir, error) {
	e, err := d.Target.entry(ctx)
	if v, ok := e.Dir.(nodes.Volatile); ok {
		return v.Snapshot(ctx)
	}
	return e.Dir, err
}

// A childFile is the file that stands for a child of a recording that is the root.
type childFile struct{ nodes.DeferredFile[fileRef] }

type fileRef struct{ child }

// Resolve returns the file as the tree has it now.
func (r fileRef) Resolve(ctx context.Context) (nodes.File, error) {
	e, err := r.entry(ctx)
	return e.File, err
}

// Since implements nodes.Grower.
func (f childFile) Since(earlier nodes.Grower) nodes.Change { return f.Target.since(earlier) }

// A plainFile is a file of the source that is shown as it is. It is a value,
// equal to another of the same version of the same file.
type plainFile struct {
	files *source.Files
	key   source.FileKey
}

func (f plainFile) Size(context.Context) (int64, error) { return f.key.Version.Size, nil }

func (f plainFile) Open(ctx context.Context) (nodes.Content, error) {
	r := source.NewReader(f.files, f.key)
	if f.key.Version.Size == 0 {
		if err := r.Check(ctx); err != nil {
			return nil, err
		}
	}
	return nodes.SectionContent(r, 0, f.key.Version.Size), nil
}

// Since implements nodes.Grower.
func (f plainFile) Since(earlier nodes.Grower) nodes.Change {
	if e, ok := earlier.(plainFile); ok {
		return changeOf(e.key.Version, f.key.Version)
	}
	return nodes.Unknown
}

var _ nodes.Grower = plainFile{}
