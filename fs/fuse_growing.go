//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"bytes"
	"context"

	"recfs/nodes"
)

// grown returns the item of a node whose entry grows, brought up to date: for the node of an older
// version of a recording, the file of the same path in the newest one. If the recording was
// replaced or is gone, or it cannot be known, the item stays what it is, and a program that follows
// it finds its end.
func (s *server) grown(ctx context.Context, it item) item {
	n := it.key.node
	if it.key.index >= 0 || n.origin == nil {
		return it
	}
	e, origin, err := n.newest(ctx)
	if err != nil || origin == nil {
		return it
	}
	later := n.renewed(e, origin)
	if !s.continues(ctx, it, item{e, n.ino, contentKey{later, -1}}) {
		return it
	}
	n = s.table.renew(n, later)
	return item{n.entry, n.ino, contentKey{n, -1}}
}

// announce comes before the size of a node is told. The last page of the version before ends in
// zeros, and the kernel shows a new size before it drops that page: a program that reads in between
// would get them. A READ of that page is served from the new version by now, or the kernel waits
// for it before it drops the page.
func (s *server) announce(n *node) {
	if n.dropped != nil && s.drop != nil {
		n.dropped.Do(func() { s.drop(n.id()) })
	}
}

// tailSize is how many bytes at the end of a file are compared with what it has there once it has
// grown.
const tailSize = 4096

// continues reports whether the file of now begins with that of was, as far as its last bytes tell.
// That is what Grows promises; but what a format showed once the writer was at rest for long may
// have become another when it goes on.
func (s *server) continues(ctx context.Context, was, now item) bool {
	had, err := was.File.Size(ctx)
	if err != nil {
		return false
	}
	if has, err := now.File.Size(ctx); err != nil || has < had {
		return false
	}
	old, err := s.tail(ctx, was, had)
	if err != nil {
		return false
	}
	same, err := s.tail(ctx, now, had)
	return err == nil && bytes.Equal(old, same)
}

// tail returns the last bytes of the first size ones of a file.
func (s *server) tail(ctx context.Context, it item, size int64) ([]byte, error) {
	b := make([]byte, min(size, tailSize))
	if len(b) == 0 {
		return nil, nil
	}
	_, err := s.read(ctx, it, b, size-int64(len(b)))
	return b, err
}

// newest returns the newest version of the entry of n, and what that is of; nil if it is the one
// that n has, or none that grew out of it.
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
	if origin == nil || origin == n.origin || origin.Since(n.origin) != nodes.Grown {
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
	if e.File == nil {
		return e, nil, nil
	}
	return e, origin, nil
}
