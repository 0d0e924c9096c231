package main

import (
	"context"
	iofs "io/fs"
	"slices"
	"strings"
	"time"

	"recfs/nodes"
)

// controlName is the directory at the root of a mount that tells about the mount itself.
const controlName = ".recfs"

// A mountRoot is an archive with .recfs in it, which opens by name and is not listed.
type mountRoot struct {
	nodes.Volatile
	control nodes.Entry
}

func (r *mountRoot) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	if name == r.control.Name {
		return r.control, nil
	}
	return r.Volatile.Lookup(ctx, name)
}

// A controlDir is .recfs. Each look-up of a file makes a new version of it, with its own exact
// size.
type controlDir struct {
	files map[string]func() []byte
	names []string // sorted
}

func newControlDir(files map[string]func() []byte) *controlDir {
	d := &controlDir{files: files}
	for name := range files {
		d.names = append(d.names, name)
	}
	slices.Sort(d.names)
	return d
}

func (d *controlDir) Lookup(_ context.Context, name string) (nodes.Entry, error) {
	content, ok := d.files[name]
	if !ok {
		return nodes.Entry{}, &iofs.PathError{Op: "lookup", Path: name, Err: iofs.ErrNotExist}
	}
	return nodes.Entry{Name: name, Attr: nodes.Attr{Time: time.Now(), Rights: nodes.Private(0o600)}, File: nodes.Bytes(content())}, nil
}

func (d *controlDir) Snapshot(context.Context) (nodes.Dir, error) { return d, nil }

func (d *controlDir) Len(context.Context) (int, error) { return len(d.names), nil }

func (d *controlDir) At(ctx context.Context, i int) (nodes.Entry, error) {
	if i < 0 || i >= len(d.names) {
		return nodes.Entry{}, iofs.ErrNotExist
	}
	return d.Lookup(ctx, d.names[i])
}

func (d *controlDir) Find(_ context.Context, name string) (int, error) {
	i, ok := slices.BinarySearchFunc(d.names, name, strings.Compare)
	if !ok {
		return 0, iofs.ErrNotExist
	}
	return i, nil
}
