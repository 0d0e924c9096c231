//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"context"

	"recfs/nodes"
)

// grown returns the item of a node whose entry grows, brought up to date: for the node of an older
// version of a recording, the file of the same path in the newest one. If the recording was replaced or
// is gone, or it cannot be known, the item stays what it is, and who follows it finds its end.
func (s *server) grown(ctx context.Context, it item) item {
	n := it.key.node
	if it.key.index >= 0 || n.origin == nil {
		return it
	}
	e, origin, err := n.newest(ctx)
	if err != nil || origin == nil {
		return it
	}
	had, err := n.entry.File.Size(ctx)
	if err != nil {
		return it
	}
	if has, err := e.File.Size(ctx); err != nil || has < had {
		return it
	}
	n = s.table.renew(n, e, origin)
	return item{n.entry, n.ino, contentKey{n, -1}}
}

// newest returns the newest version of the entry of n, and what that is of; nil if it is the one that
// n has, or none that grew out of it.
func (n *node) newest(ctx context.Context) (e nodes.Entry, origin nodes.Grower, err error) {
	top, below := n.origins()
	if top == nil {
		return e, nil, nil
	}
	folder, ok := top.parent.entry.Dir.(nodes.Volatile)
	if !ok {
		return e, nil, nil
	}
	e, err = folder.Lookup(ctx, top.entry.Name)
	if err != nil {
		return e, nil, err
	}
	origin = growerOf(e)
	if origin == nil || origin == n.origin || !origin.GrewFrom(n.origin) {
		return e, nil, nil
	}
	e = top.parent.child(e)
	if below != "." {
		attr := e.Attr
		if e, err = nodes.Lookup(ctx, e.Dir, below); err != nil {
			return e, nil, err
		}
		e = e.Inherit(attr)
	}
	if !e.Grows || e.File == nil {
		return e, nil, nil
	}
	return e, origin, nil
}
