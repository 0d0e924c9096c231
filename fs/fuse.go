//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"context"
	"errors"
	iofs "io/fs"
	"path"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"recfs/nodes"
)

const (
	// What is below a version never changes, so the kernel may keep it.
	immutable = time.Hour
	// A volatile directory itself: that it is there, and its time. What it
	// has is looked up each time, so nothing else can be out of date.
	volatile = time.Second

	blockSize = 4096 // st_blksize, and the unit of statfs
	nameMax   = 255  // what statfs says; a source may have longer names

	dotEntries = 2 // "." and "..", in front of entry 0
)

// Lookup implements fuse.RawFileSystem.
func (s *server) Lookup(cancel <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	return s.serve(opLookup, header.Pid, cancel, func(ctx context.Context) fuse.Status {
		return s.lookup(ctx, header.NodeId, name, out)
	})
}

func (s *server) lookup(ctx context.Context, id uint64, name string, out *fuse.EntryOut) fuse.Status {
	dir, err := s.dir(id)
	if err != nil {
		return s.fail(opLookup, dir.path, err)
	}
	if v, ok := dir.entry.Dir.(nodes.Volatile); ok {
		err = s.lookupVolatile(ctx, dir, v, name, out)
	} else {
		var i int
		var e nodes.Entry
		i, e, err = nodes.FindAt(ctx, dir.entry.Dir, name)
		switch {
		case err == nil:
			err = s.enter(ctx, dir, i, e, out)
		case i < 0 && errors.Is(err, iofs.ErrNotExist):
			out.SetEntryTimeout(immutable) // a node id of 0: there is no such name, for that long
			err = nil
		}
	}
	// A source may have longer names, so only a name that is not there is too long.
	if len(name) > nameMax && out.NodeId == 0 {
		return fuse.Status(syscall.ENAMETOOLONG)
	}
	if err != nil {
		return s.fail(opLookup, func() string { return path.Join(dir.path(), name) }, err)
	}
	return fuse.OK
}

func (s *server) lookupVolatile(ctx context.Context, dir *node, v nodes.Volatile, name string, out *fuse.EntryOut) error {
	e, err := v.Lookup(ctx, name)
	if err != nil {
		return err
	}
	size, err := sizeOf(ctx, e)
	if err != nil {
		return err
	}
	n, err := s.table.add(dir, nodeKey{name: e.Name}, e)
	if err != nil {
		return err
	}
	s.announce(n)
	out.NodeId, out.Generation = n.id(), n.generation
	out.SetEntryTimeout(s.entryTimeout)
	if n.volatile() {
		out.SetEntryTimeout(max(volatile, s.entryTimeout))
	}
	out.SetAttrTimeout(s.setAttr(&out.Attr, n.entry, n.ino, size))
	return nil
}

// enter fills in entry i of an immutable directory for the kernel to hold.
func (s *server) enter(ctx context.Context, dir *node, i int, e nodes.Entry, out *fuse.EntryOut) error {
	size, err := sizeOf(ctx, e)
	if err != nil {
		return err
	}
	id, generation := uint64(dir.number)<<indexBits|uint64(i+1), dir.generation // an entry has no number of its own
	if e.Dir != nil || e.Grows {
		n, err := s.table.add(dir, nodeKey{index: i}, e)
		if err != nil {
			return err
		}
		s.announce(n)
		id, generation = n.id(), n.generation
		if e.Grows { // the node may be of a later version than dir
			if later, err := sizeOf(ctx, n.entry); err == nil {
				e, size = n.entry, later
			}
		}
	}
	out.NodeId, out.Generation = id, generation
	out.SetEntryTimeout(immutable)
	out.SetAttrTimeout(s.setAttr(&out.Attr, e.Inherit(dir.entry.Attr), dir.childIno(e.Name), size))
	return nil
}

// Forget implements fuse.RawFileSystem.
func (s *server) Forget(id, lookups uint64) {
	s.serve(opForget, 0, nil, func(context.Context) fuse.Status {
		s.table.forget(id, lookups)
		return fuse.OK
	})
}

// Readlink implements fuse.RawFileSystem.
func (s *server) Readlink(cancel <-chan struct{}, header *fuse.InHeader) (target []byte, status fuse.Status) {
	status = s.serve(opReadlink, header.Pid, cancel, func(ctx context.Context) fuse.Status {
		it, err := s.item(ctx, s.table.get(header.NodeId))
		switch {
		case err != nil:
			return s.fail(opReadlink, it.path, err)
		case it.Link == "":
			return fuse.EINVAL
		}
		target = []byte(it.Link)
		return fuse.OK
	})
	return target, status
}

// Open implements fuse.RawFileSystem: there is no opening (see the package
// documentation).
func (s *server) Open(cancel <-chan struct{}, in *fuse.OpenIn, _ *fuse.OpenOut) fuse.Status {
	return s.serve(opOpen, in.Pid, cancel, func(context.Context) fuse.Status { return fuse.ENOSYS })
}

// Flush implements fuse.RawFileSystem: there is nothing to write back, so the kernel need not tell
// of each close.
func (s *server) Flush(cancel <-chan struct{}, in *fuse.FlushIn) fuse.Status {
	return s.serve(opFlush, in.Pid, cancel, func(context.Context) fuse.Status { return fuse.ENOSYS })
}

// StatFs implements fuse.RawFileSystem. How much there is in the tree cannot
// be known without decoding all of it.
func (s *server) StatFs(cancel <-chan struct{}, header *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	return s.serve(opStatfs, header.Pid, cancel, func(context.Context) fuse.Status {
		out.Bsize, out.Frsize, out.NameLen = blockSize, blockSize, nameMax
		if s.space != nil {
			total, free := s.space()
			out.Blocks, out.Bfree, out.Bavail = total/blockSize, free/blockSize, free/blockSize
		}
		return fuse.OK
	})
}

// GetAttr implements fuse.RawFileSystem.
func (s *server) GetAttr(cancel <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	return s.serve(opGetattr, in.Pid, cancel, func(ctx context.Context) fuse.Status {
		return s.getAttr(ctx, in, out)
	})
}

func (s *server) getAttr(ctx context.Context, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	it, err := s.item(ctx, s.table.get(in.NodeId))
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
	return s.contents.Read(ctx, it.key, it.File.Open, 0, func(nodes.Content) (int, error) { return 0, nil })
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

// setAttr fills in the attributes of an entry with its own Time and returns
// how long they hold.
func (s *server) setAttr(a *fuse.Attr, e nodes.Entry, ino uint64, size int64) time.Duration {
	*a = fuse.Attr{
		Ino:     ino,
		Size:    uint64(size),
		Mode:    typeBits(e.Type()) | uint32(e.Mode().Perm())&^s.umask,
		Nlink:   1,
		Owner:   s.owner(e.Rights),
		Blksize: blockSize,
	}
	if e.Dir == nil { // what a directory shows counts where it is shown
		a.Blocks = uint64(size+511) / 512
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
