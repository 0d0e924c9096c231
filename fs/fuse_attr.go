//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"context"
	"errors"
	iofs "io/fs"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"recfs/nodes"
)

// GetAttr implements fuse.RawFileSystem.
func (s *server) GetAttr(cancel <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	return s.serve(opGetattr, in.Pid, cancel, func(ctx context.Context) fuse.Status {
		return s.getAttr(ctx, in, out)
	})
}

func (s *server) getAttr(ctx context.Context, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	it, err := s.item(ctx, in.NodeId)
	if err == nil && it.Grows {
		it = s.grown(ctx, it)
		s.announce(it.key.node)
	}
	if err == nil {
		it.Attr, err = current(ctx, it.Entry)
	}
	if err != nil {
		return s.fail(opGetattr, it.path, err)
	}
	size, err := sizeOf(ctx, it.Entry)
	if err == nil && size == 0 && it.File != nil && in.Flags()&fuse.FUSE_GETATTR_FH != 0 {
		err = s.readEmpty(ctx, it)
	}
	if err != nil {
		return s.fail(opGetattr, it.path, err)
	}
	out.SetTimeout(s.setAttr(&out.Attr, it.Entry, it.ino, size))
	return fuse.OK
}

// current returns the attributes of an entry as they are now. Those of a volatile directory may
// change while a program is in it; a directory that is gone has its last ones.
func current(ctx context.Context, e nodes.Entry) (nodes.Attr, error) {
	v, ok := e.Dir.(nodes.Volatile)
	if !ok {
		return e.Attr, nil
	}
	self, err := v.Lookup(ctx, ".")
	if errors.Is(err, iofs.ErrNotExist) {
		return e.Attr, nil
	}
	return self.Inherit(e.Attr).Attr, err
}

// readEmpty opens a file of size 0 for a reader (see the package documentation).
func (s *server) readEmpty(ctx context.Context, it item) error {
	return s.contents.Read(ctx, it.key, it.File, 0, func(nodes.Content) (int, error) { return 0, nil })
}

// sizeOf returns st_size. For that of a directory it is not looked into.
func sizeOf(ctx context.Context, e nodes.Entry) (int64, error) {
	switch {
	case e.File != nil:
		return e.File.Size(ctx)
	case e.Dir != nil:
		return e.DirSize, nil
	}
	return int64(len(e.Link)), nil
}

// blocksOf returns st_blocks. A directory has none: what it shows counts where it is shown.
func blocksOf(e nodes.Entry, size int64) uint64 {
	const block = 512 // the unit of st_blocks
	if e.Dir != nil {
		return 0
	}
	return uint64(size+block-1) / block
}

// setAttr fills in the attributes of an entry with its own Time and returns
// how long they hold.
func (s *server) setAttr(a *fuse.Attr, e nodes.Entry, ino uint64, size int64) time.Duration {
	*a = fuse.Attr{
		Ino:     ino,
		Size:    uint64(size),
		Blocks:  blocksOf(e, size),
		Mode:    typeBits(e.Type()) | uint32(e.Mode().Perm())&^s.umask,
		Nlink:   1,
		Owner:   s.owner(e.Rights),
		Blksize: blockSize,
	}
	a.SetTimes(&e.Time, &e.Time, &e.Time)
	if _, ok := e.Dir.(nodes.Volatile); ok {
		return volatile
	}
	if e.File != nil && size == 0 {
		return 0 // a reader must ask (see the package documentation)
	}
	if e.Grows {
		return volatile // a program that follows it asks again
	}
	return immutable
}

func (s *server) owner(rights nodes.Rights) fuse.Owner {
	owner := fuse.Owner{Uid: rights.UID, Gid: rights.GID}
	if s.uid != nil {
		owner.Uid = *s.uid
	}
	if s.gid != nil {
		owner.Gid = *s.gid
	}
	return owner
}

func typeBits(kind iofs.FileMode) uint32 {
	switch kind {
	case iofs.ModeDir:
		return syscall.S_IFDIR
	case iofs.ModeSymlink:
		return syscall.S_IFLNK
	}
	return syscall.S_IFREG
}
