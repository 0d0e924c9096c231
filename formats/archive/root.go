package archive

import (
	"context"
	"errors"
	iofs "io/fs"
	"path"

	"recfs/formats/source"
	"recfs/nodes"
)

// A top is the root of an archive: the source directory, or the recording
// that the source is.
type top struct {
	a    *archive
	file string // the source is this one file; "" if it is the directory
}

// current returns the root as it is now.
func (t *top) current(ctx context.Context) (nodes.Dir, error) {
	e, err := t.entry(ctx)
	return e.Dir, err
}

// entry returns the entry of the root as it is now.
func (t *top) entry(ctx context.Context) (nodes.Entry, error) {
	dir, name := ".", "."
	if t.file != "" {
		dir, name = path.Split(t.file)
		dir = path.Clean(dir)
	}
	e, err := t.a.lookup(ctx, folder{t.a, dir}, name)
	if err == nil && e.Dir == nil { // the file is no recording any more
		err = source.Stale(t.file)
	}
	return e, err
}

func (t *top) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	if name == "." {
		return t.entry(ctx)
	}
	d, err := t.current(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	e, err := nodes.Child(ctx, d, name)
	if _, ok := d.(folder); ok {
		if name == CatalogueName && errors.Is(err, iofs.ErrNotExist) {
			return t.a.catalogueEntry(ctx)
		}
		return e, err
	}
	switch {
	case e.Dir != nil:
		e.Dir = deferTop(topDir{d, e.Name}, e.Dir)
	case e.File != nil:
		e.File = topFile{d, e.Name}
	}
	return e, err
}

func (t *top) Snapshot(ctx context.Context) (nodes.Dir, error) {
	d, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	if v, ok := d.(nodes.Volatile); ok {
		return v.Snapshot(ctx)
	}
	return d, nil
}

func (t *top) Len(ctx context.Context) (int, error) {
	d, err := t.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	return d.Len(ctx)
}

func (t *top) At(ctx context.Context, i int) (nodes.Entry, error) {
	d, err := t.Snapshot(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	return d.At(ctx, i)
}

func (t *top) Find(ctx context.Context, name string) (int, error) {
	d, err := t.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	return d.Find(ctx, name)
}

// A topDir is a directory in a recording that is the root, by its name. The
// values of the tree itself are made anew when the recording was put out of the
// cache and opened again; this one is equal to another of the same version.
type topDir struct {
	recording nodes.Dir
	name      string
}

// deferTop returns the directory that stands for dir, which t resolves to now.
func deferTop(t topDir, dir nodes.Dir) nodes.Dir {
	deferred := nodes.Deferred[topDir]{Target: t}
	if _, ok := dir.(nodes.Volatile); ok {
		return volatileTop{deferred}
	}
	return deferred
}

// A volatileTop is a topDir whose entries are looked up by name.
type volatileTop struct{ nodes.Deferred[topDir] }

// Lookup implements nodes.Volatile.
func (t volatileTop) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	d, err := t.Resolve(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	return nodes.Child(ctx, d, name)
}

// Snapshot implements nodes.Volatile.
func (t volatileTop) Snapshot(ctx context.Context) (nodes.Dir, error) {
	d, err := t.Resolve(ctx)
	if err != nil {
		return nil, err
	}
	if v, ok := d.(nodes.Volatile); ok {
		return v.Snapshot(ctx)
	}
	return d, nil
}

// Resolve returns the directory as the tree has it now.
func (t topDir) Resolve(ctx context.Context) (nodes.Dir, error) {
	e, err := nodes.Child(ctx, t.recording, t.name)
	return e.Dir, err
}

// A topFile is a file in a recording that is the root, like topDir.
type topFile struct {
	recording nodes.Dir
	name      string
}

func (t topFile) file(ctx context.Context) (nodes.File, error) {
	e, err := nodes.Child(ctx, t.recording, t.name)
	return e.File, err
}

func (t topFile) Size(ctx context.Context) (int64, error) {
	f, err := t.file(ctx)
	if err != nil {
		return 0, err
	}
	return f.Size(ctx)
}

func (t topFile) Open(ctx context.Context) (nodes.Content, error) {
	f, err := t.file(ctx)
	if err != nil {
		return nil, err
	}
	return f.Open(ctx)
}
