//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/hanwen/go-fuse/v2/fuse"

	"recfs/nodes"
)

// readFrom reads as much of c at off as there is and buf has room for, which is copied there unless
// it is lent.
func readFrom(ctx context.Context, c nodes.Content, buf []byte, off int64) (fuse.ReadResult, error) {
	if l, ok := c.(nodes.Lender); ok {
		if n := min(int64(len(buf)), c.Size()-off); n > 0 {
			loan, err := l.Lend(ctx, int(n), off)
			switch {
			case err != nil:
				return nil, err
			case loan != nil:
				return lent{loan, int(n)}, nil
			}
		}
	}
	n, err := readFull(ctx, c, buf, off)
	if err != nil {
		return nil, err
	}
	return fuse.ReadResultData(buf[:n]), nil
}

// readFull reads as much of c at off as there is. Anything less would make the
// kernel correct the size of the file downwards, so it is an error.
func readFull(ctx context.Context, c nodes.Content, buf []byte, off int64) (int, error) {
	want := min(int64(len(buf)), c.Size()-off)
	if want <= 0 {
		return 0, nil
	}
	n, err := c.ReadAt(ctx, buf[:want], off)
	switch {
	case int64(n) == want:
		return n, nil
	case err == nil, err == io.EOF:
		return 0, nodes.SizeError(want, int64(n))
	}
	return 0, err
}

// A lent is a reply to a READ out of the memory of a Content, which gets it back when the reply was
// written.
type lent struct {
	loan *nodes.Loan
	size int
}

// Size implements fuse.ReadResult.
func (l lent) Size() int { return l.size }

// Slices is what go-fuse asks replies for that are in several parts.
func (l lent) Slices() ([][]byte, fuse.Status) { return l.loan.Parts, fuse.OK }

// Bytes implements fuse.ReadResult.
func (l lent) Bytes([]byte) ([]byte, fuse.Status) { return slices.Concat(l.loan.Parts...), fuse.OK }

// Done implements fuse.ReadResult.
func (l lent) Done() { l.loan.Return() }

// Read implements fuse.RawFileSystem.
func (s *server) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (result fuse.ReadResult, status fuse.Status) {
	status = s.serve(opRead, in.Pid, cancel, func(ctx context.Context) fuse.Status {
		it := item{key: s.table.get(in.NodeId)}
		var err error
		if result, err = s.read(ctx, &it, buf, int64(in.Offset)); err != nil {
			return s.fail(opRead, it.path, err)
		}
		s.counters.bytes.Add(uint64(result.Size()))
		return fuse.OK
	})
	return result, status
}

// read reads the item that has a key. The tree is asked for the rest of it only if it is not open,
// or to name it after a failure.
func (s *server) read(ctx context.Context, it *item, buf []byte, off int64) (result fuse.ReadResult, err error) {
	open := func(ctx context.Context) (nodes.Content, error) {
		if *it, err = s.item(ctx, it.key); err != nil {
			return nil, err
		}
		if it.File == nil {
			return nil, errIsDir
		}
		return it.File.Open(ctx)
	}
	err = s.account.Do(ctx, 0, func(ctx context.Context) error {
		if result != nil { // it was read without the memory it takes
			result.Done()
			result = nil
		}
		return s.contents.Read(ctx, it.key, open, off, func(c nodes.Content) (int, error) {
			if result, err = readFrom(ctx, c, buf, off); err == nil {
				return result.Size(), nil
			}
			if it.File == nil {
				*it, _ = s.item(ctx, it.key)
			}
			return 0, err
		})
	})
	return result, err
}

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
	if !s.continues(ctx, it, item{e, n.ino, place{later, -1}}) {
		return it
	}
	n = s.table.renew(n, later)
	return item{n.entry, n.ino, place{n, -1}}
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
	_, err := s.read(ctx, &it, b, size-int64(len(b)))
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
	e = e.Inherit(top.parent.entry.Attr)
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
