//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"context"
	"errors"
	iofs "io/fs"
	"syscall"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"

	"recfs/nodes"
)

// OpenDir implements fuse.RawFileSystem.
func (s *server) OpenDir(cancel <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	return s.serve(opOpendir, in.Pid, cancel, func(context.Context) fuse.Status {
		n, err := s.dir(in.NodeId)
		if err != nil {
			return s.fail(opOpendir, n.path, err)
		}
		if n.volatile() {
			out.Fh = s.listings.last.Add(1)
		}
		return fuse.OK
	})
}

// ReleaseDir implements fuse.RawFileSystem.
func (s *server) ReleaseDir(in *fuse.ReleaseIn) {
	s.serve(opReleasedir, in.Pid, nil, func(context.Context) fuse.Status {
		s.listings.dirs.Delete(in.Fh)
		return fuse.OK
	})
}

// ReadDir implements fuse.RawFileSystem.
func (s *server) ReadDir(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return s.serve(opReaddir, in.Pid, cancel, func(ctx context.Context) fuse.Status {
		n, err := s.dir(in.NodeId)
		if err == nil {
			err = s.readDir(ctx, n, in, func(_ nodes.Dir, _ int, e fuse.DirEntry) bool {
				return out.AddDirEntry(e)
			})
		}
		if err != nil {
			return s.fail(opReaddir, n.path, err)
		}
		return fuse.OK
	})
}

// ReadDirPlus implements fuse.RawFileSystem. The kernel asks for attributes
// with the first names of every listing, just in case; an answer would make it
// hold all of those files. It asks again once a program has looked at some of
// them. Look-ups in a volatile directory are not kept, so none is made here.
func (s *server) ReadDirPlus(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return s.serve(opReaddirplus, in.Pid, cancel, func(ctx context.Context) fuse.Status {
		n, err := s.dir(in.NodeId)
		if err != nil {
			return s.fail(opReaddirplus, n.path, err)
		}
		ctx = nodes.Listing(ctx)
		namesOnly := in.Offset == 0 && s.plus == ReadDirPlusAuto || n.volatile()
		err = s.readDir(ctx, n, in, func(dir nodes.Dir, i int, e fuse.DirEntry) bool {
			entry := out.AddDirLookupEntry(e)
			if entry != nil && i >= 0 && !namesOnly {
				s.enterListed(ctx, n, dir, i, entry)
			}
			return entry != nil
		})
		if err != nil {
			return s.fail(opReaddirplus, n.path, err)
		}
		return fuse.OK
	})
}

// enterListed fills in entry i if that can be done and its size is known or
// cheap; otherwise it comes without attributes, and a look-up will make it or
// show the error.
func (s *server) enterListed(ctx context.Context, n *node, dir nodes.Dir, i int, out *fuse.EntryOut) {
	e, err := dir.At(ctx, i)
	if err == nil && !nodes.IsMeasured(ctx, e.File) {
		err = errUnmeasured
	}
	if err == nil { // by its name it may have another index, and has one node id
		i, err = dir.Find(ctx, e.Name)
	}
	if err == nil {
		err = s.enter(ctx, n, i, e, out)
	}
	if err != nil {
		*out = fuse.EntryOut{}
	}
}

// errUnmeasured says that the size of a file is not known yet.
var errUnmeasured = errors.New("not measured")

// readDir passes the entries of directory n from in.Offset on to add, with
// their index (negative: "." and ".."), until it returns false. The offset of
// an entry follows from its index alone, so a listing needs no state and can
// be continued anywhere.
func (s *server) readDir(ctx context.Context, n *node, in *fuse.ReadIn, add func(nodes.Dir, int, fuse.DirEntry) bool) error {
	dir, err := s.listing(ctx, n, in)
	if err != nil {
		return err
	}
	length, err := nodes.LenTo(ctx, dir, max(1, int(in.Offset)-dotEntries+1))
	if err != nil {
		return err
	}
	added := false
	var name []byte // for all entries: the list copies it
	for next := in.Offset; next < uint64(length)+dotEntries; next++ {
		i := int(next) - dotEntries
		e := fuse.DirEntry{Off: next + 1}
		if i < 0 {
			n.dotEntry(i, &e)
		} else {
			var kind iofs.FileMode
			name, kind, err = nodes.AppendName(ctx, dir, name[:0], i)
			switch {
			case err == nil:
			case errors.Is(err, iofs.ErrNotExist):
				continue // vanished since the snapshot
			case added:
				return nil // the next request begins with the error
			default:
				return err
			}
			e.Name = unsafe.String(unsafe.SliceData(name), len(name))
			e.Ino, e.Mode = s.table.childIno(n, e.Name), typeBits(kind)
		}
		if !add(dir, i, e) {
			return nil
		}
		added = true
	}
	return nil
}

// dotEntry fills in the entry at index -2 or -1.
func (n *node) dotEntry(i int, e *fuse.DirEntry) {
	e.Mode = syscall.S_IFDIR
	if i == -dotEntries {
		e.Name, e.Ino = ".", n.ino
	} else {
		e.Name, e.Ino = "..", n.parentIno()
	}
}

// listing returns the directory to list: of a volatile one the snapshot taken
// when it was opened or rewound. What a snapshot stands for is found for each
// request, so that an open handle keeps no list.
func (s *server) listing(ctx context.Context, n *node, in *fuse.ReadIn) (nodes.Dir, error) {
	dir := n.entry.Dir
	if v, ok := dir.(nodes.Volatile); ok {
		var err error
		if dir, err = s.snapshot(ctx, v, in); err != nil {
			return nil, err
		}
	}
	return nodes.Resolve(ctx, dir)
}

// snapshot returns the names that a handle lists. A handle that goes on where it never began, as
// that of a program that kept the place where it stopped, lists the names of now.
func (s *server) snapshot(ctx context.Context, v nodes.Volatile, in *fuse.ReadIn) (nodes.Dir, error) {
	if d, ok := s.listings.dirs.Load(in.Fh); ok && in.Offset > 0 {
		return d.(nodes.Dir), nil
	}
	snapshot, err := v.Snapshot(ctx)
	if err == nil {
		s.listings.dirs.Store(in.Fh, snapshot)
	}
	return snapshot, err
}
