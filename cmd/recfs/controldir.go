package main

import (
	"context"

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

// A controlDir is .recfs: it makes the files as they are now, with their exact sizes, for each
// look-up and listing. It is equal to another of the same mount.
type controlDir struct{ nodes.Deferred[*monitor] }

// Lookup implements nodes.Volatile.
func (d controlDir) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	return nodes.Child(ctx, d.Deferred, name)
}

// Snapshot implements nodes.Volatile.
func (d controlDir) Snapshot(ctx context.Context) (nodes.Dir, error) { return d.Resolve(ctx) }
