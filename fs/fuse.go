//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"context"
	"errors"
	iofs "io/fs"
	"log/slog"
	"path"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"recfs/cache"
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

// A server is the tree as a filesystem on the kernel's protocol.
type server struct {
	fuse.RawFileSystem         // answers ENOSYS to everything else
	uid, gid           *uint32 // see Options
	umask              uint32
	plus               ReadDirPlus
	space              func() (total, free uint64)
	pending            pendingFunc
	entryTimeout       time.Duration
	log                *slog.Logger

	drop     func(id uint64) // has the kernel forget the pages of a node; nil: there is no kernel
	table    *table
	contents *contents
	account  *cache.Cache
	listings listings
	counters counters
}

func newServer(root nodes.Dir, opt *Options) *server {
	s := &server{
		RawFileSystem: fuse.NewDefaultRawFileSystem(),
		uid:           opt.UID,
		gid:           opt.GID,
		umask:         uint32(opt.Umask.Perm()),
		plus:          opt.ReadDirPlus,
		space:         opt.Space,
		pending:       procPending,
		contents:      newContents(),
		account:       opt.Cache,
		entryTimeout:  opt.EntryTimeout,
		log:           opt.logger(),
	}
	s.table = newTable(nodes.Entry{Attr: nodes.Attr{Time: opt.time(), Rights: nodes.Private(0o555)}, Dir: root})
	return s
}

func (s *server) String() string { return fsName }

// Init implements fuse.RawFileSystem.
func (s *server) Init(kernel *fuse.Server) {
	s.drop = func(id uint64) { kernel.InodeNotify(id, 0, 0) }
}

// OnUnmount implements fuse.RawFileSystem.
func (s *server) OnUnmount() { s.contents.Close() }

// serve counts a request of the thread caller and runs it in its context. Every request passes
// here.
func (s *server) serve(op operation, caller uint32, interrupted <-chan struct{}, do func(context.Context) fuse.Status) fuse.Status {
	s.counters.requests[op].Add(1)
	ctx := &request{caller: caller, interrupted: interrupted, pending: s.pending}
	defer ctx.answered()
	return do(ctx)
}

// fail counts and logs a failed request for what lies at path and returns its
// errno. That a name is not there, or its directory became a file, is no failure.
func (s *server) fail(op operation, path func() string, err error) fuse.Status {
	status := errno(err)
	if status == fuse.ENOENT || status == fuse.ENOTDIR {
		return status
	}
	s.counters.errors.Add(1)
	switch {
	case status == fuse.EINTR:
	case nodes.IsOfServer(err): // which is no problem of a recording
		s.log.Info("request failed", "op", op.String(), "path", path(), "err", err)
	default:
		s.log.Warn("request failed", "op", op.String(), "path", path(), "err", err)
	}
	return status
}

// dir returns the directory with that id.
func (s *server) dir(id uint64) (*node, error) {
	n, i := s.table.get(id)
	switch {
	case n == nil:
		return nil, nodes.ErrStale
	case i >= 0 || n.entry.Dir == nil:
		return nil, errNotDir
	}
	return n, nil
}

// An item is an entry with all that identifies it.
type item struct {
	nodes.Entry
	ino uint64
	key contentKey
}

// item returns what has that id, or as much of it as is known. An entry
// without a number is asked for from its directory.
func (s *server) item(ctx context.Context, id uint64) (item, error) {
	n, i := s.table.get(id)
	if n == nil {
		return item{}, nodes.ErrStale
	}
	if i < 0 {
		return item{n.entry, n.ino, contentKey{n, -1}}, nil
	}
	e, err := n.entry.Dir.At(ctx, i)
	if err != nil {
		e = nodes.Entry{}
	}
	return item{n.child(e), n.childIno(e.Name), contentKey{n, i}}, err
}

// path returns the path below the root, for the log.
func (it item) path() string {
	if it.key.index < 0 {
		return it.key.node.path()
	}
	return path.Join(it.key.node.path(), it.Name)
}

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
		err = s.lookupImmutable(ctx, dir, name, out)
	}
	// A source may have longer names, so only one that is not there is too long.
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

func (s *server) lookupImmutable(ctx context.Context, dir *node, name string, out *fuse.EntryOut) error {
	i, e, err := nodes.FindAt(ctx, dir.entry.Dir, name)
	if i < 0 && errors.Is(err, iofs.ErrNotExist) {
		out.SetEntryTimeout(immutable) // a node id of 0: there is no such name, for that long
		return nil
	}
	if err != nil {
		return err
	}
	return s.enter(ctx, dir, i, e, out)
}

// enter fills in entry i of an immutable directory for the kernel to hold.
func (s *server) enter(ctx context.Context, dir *node, i int, e nodes.Entry, out *fuse.EntryOut) error {
	size, err := sizeOf(ctx, e)
	if err != nil {
		return err
	}
	id, generation := dir.childID(i), dir.generation
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
	out.SetAttrTimeout(s.setAttr(&out.Attr, dir.child(e), dir.childIno(e.Name), size))
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
		it, err := s.item(ctx, header.NodeId)
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

// Read implements fuse.RawFileSystem.
func (s *server) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (result fuse.ReadResult, status fuse.Status) {
	status = s.serve(opRead, in.Pid, cancel, func(ctx context.Context) fuse.Status {
		it, err := s.item(ctx, in.NodeId)
		if err == nil {
			result, err = s.read(ctx, it, buf, int64(in.Offset))
		}
		if err != nil {
			return s.fail(opRead, it.path, err)
		}
		s.counters.bytes.Add(uint64(result.Size()))
		return fuse.OK
	})
	return result, status
}

func (s *server) read(ctx context.Context, it item, buf []byte, off int64) (result fuse.ReadResult, err error) {
	if it.File == nil {
		return nil, errIsDir
	}
	err = s.within(ctx, func(ctx context.Context) error {
		if result != nil { // it was read without the memory it takes
			result.Done()
			result = nil
		}
		c, err := s.acquire(ctx, it)
		if err != nil {
			return err
		}
		n := 0
		if result, err = readFrom(ctx, c.Value.Content, buf, off); err == nil {
			n = result.Size()
		}
		served(c, off, int64(n))
		return err
	})
	return result, err
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

// panicked reports a panic in a handler: that request fails, the mount stays.
func (s *server) panicked(v any) fuse.Status {
	s.counters.errors.Add(1)
	s.log.Error("panic in a request", "err", v, "stack", string(debug.Stack()))
	return fuse.EIO
}
