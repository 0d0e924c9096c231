package source

import (
	"context"
	"errors"
	iofs "io/fs"
	"sync"
	"syscall"
	"time"

	"recfs/cache"
	"recfs/nodes"
)

const (
	maxFiles = 128              // files held open
	idleFile = 10 * time.Second // after one to two of which one is closed
	maxHolds = 64               // files opened on look-up, in a second
)

// Files holds files of a tree open between reads: at most maxFiles of them
// but for those being read this moment, and none for long without a read.
type Files struct {
	OnRead func(n int) // hears how many bytes are read; nil: nobody does

	tree Tree
	open *cache.LRU[FileKey, File]

	mu     sync.Mutex
	second int64 // of the last hold
	holds  int   // in that second
}

// A FileKey is a file as it was at a version.
type FileKey struct {
	Path    string
	Version Version
}

// NewFiles returns the open files of a tree, none yet. To open one takes memory of c; nil: it takes
// none.
func NewFiles(tree Tree, c *cache.Cache) *Files {
	return &Files{tree: tree, open: cache.NewLRU[FileKey](cache.LRUOptions[File]{
		Max: maxFiles, Idle: idleFile, Close: func(f File) { f.Close() }, Cache: c,
	})}
}

// Hold opens a file that was looked up. A program that opens it in the mount does not tell us so,
// and should find it even if it is replaced before the first read. A walk over many files opens but
// a few of them.
func (h *Files) Hold(ctx context.Context, key FileKey) {
	h.mu.Lock()
	if now := time.Now().Unix(); now != h.second {
		h.second, h.holds = now, 0
	}
	h.holds++
	enough := h.holds > maxHolds
	h.mu.Unlock()
	if enough {
		return
	}
	if f, err := h.open.Acquire(ctx, key, h.opener(key)); err == nil {
		f.Release()
	}
}

// read reads from one of the files.
func (h *Files) read(ctx context.Context, f File, p []byte, off int64) (int, error) {
	n, err := f.ReadAt(ctx, p, off)
	if h.OnRead != nil {
		h.OnRead(n)
	}
	return n, err
}

// Close closes all files, those that are being read when that is over.
func (h *Files) Close() { h.open.Close() }

// opener returns what opens the file at a path, which must be the one that had the version or a
// later state of it.
func (h *Files) opener(key FileKey) func(context.Context) (File, error) {
	return func(ctx context.Context) (File, error) {
		f, err := h.tree.Open(ctx, key.Path)
		if err != nil {
			if IsGone(err) {
				err = Stale(key.Path)
			}
			return nil, err
		}
		info, err := f.Info(ctx)
		if err == nil && !key.Version.SameFile(info) {
			err = Stale(key.Path)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
}

// IsGone reports whether err says that nothing has that path any more, also because a directory of
// the path became a file.
func IsGone(err error) bool {
	return errors.Is(err, iofs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Stale returns the error of a read for bytes that the file at path has no more.
func Stale(path string) error {
	return &iofs.PathError{Op: "read", Path: path, Err: nodes.ErrStale}
}
