//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"cmp"
	"context"
	"log/slog"
	"path"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"recfs/cache"
	"recfs/fs/opened"
	"recfs/nodes"
)

// Contents that READs used last stay open: without OPEN and RELEASE nobody says when a file is in
// use. The kernel keeps what it got; a byte that it reads twice it had no room for.
const (
	maxContents  = 64
	contentsIdle = 10 * time.Second
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
	contents opened.Files[place]
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
		contents:      opened.New[place](maxContents, contentsIdle, true),
		account:       opt.Cache,
		entryTimeout:  opt.EntryTimeout,
		log:           opt.logger(),
	}
	s.table = newTable(nodes.Entry{Attr: nodes.Attr{Time: cmp.Or(opt.Time, time.Now()), Rights: nodes.Private(0o555)}, Dir: root})
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
	at := s.table.get(id)
	switch {
	case at.node == nil:
		return nil, nodes.ErrStale
	case at.index >= 0 || at.node.entry.Dir == nil:
		return nil, errNotDir
	}
	return at.node, nil
}

// An item is an entry with all that identifies it.
type item struct {
	nodes.Entry
	ino uint64
	key place
}

// item returns what lies at a place, or as much of it as is known. An entry
// without a number is asked for from its directory.
func (s *server) item(ctx context.Context, at place) (item, error) {
	n := at.node
	if n == nil {
		return item{}, nodes.ErrStale
	}
	if at.index < 0 {
		return item{n.entry, n.ino, at}, nil
	}
	e, err := n.entry.Dir.At(ctx, at.index)
	if err != nil {
		e = nodes.Entry{}
	}
	return item{e.Inherit(n.entry.Attr), n.childIno(e.Name), at}, err
}

// path returns the path below the root, for the log.
func (it item) path() string {
	if it.key.index < 0 {
		return it.key.node.path()
	}
	return path.Join(it.key.node.path(), it.Name)
}

// panicked reports a panic in a handler: that request fails, the mount stays.
func (s *server) panicked(v any) fuse.Status {
	s.counters.errors.Add(1)
	s.log.Error("panic in a request", "err", v, "stack", string(debug.Stack()))
	return fuse.EIO
}

// listings holds the snapshots of volatile directories that are open, by handle. An immutable
// directory is its own snapshot and has handle 0.
type listings struct {
	last atomic.Uint64
	dirs sync.Map // of nodes.Dir
}
