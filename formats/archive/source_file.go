package archive

import (
	"context"
	"hash/maphash"
	"io"
	iofs "io/fs"
	"sync"

	"recfs/nodes"
)

// tailSize is how much before the end of a version is compared when the file
// has grown since.
const tailSize = 4096

var tailSeed = maphash.MakeSeed()

// A fileReader reads one version of a file: the first size bytes it had
// then. After every read it looks whether the file still has them. A file
// that was appended to does, as far as the last bytes of the version tell;
// one that was replaced, shortened or changed gives nodes.ErrStale.
type fileReader struct {
	handles *handles
	key     handleKey

	mu    sync.Mutex
	seen  version // the last state that was found to have the bytes
	tail  uint64  // hash of the last bytes of the version
	stale bool
}

func newFileReader(h *handles, path string, v version) *fileReader {
	return &fileReader{handles: h, key: handleKey{path, v}}
}

// ReadAt reads from the version.
func (r *fileReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	size := r.key.v.Size
	if off < 0 {
		return 0, iofs.ErrInvalid
	}
	if off >= size {
		return 0, io.EOF
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	end := false
	if int64(len(p)) > size-off {
		p, end = p[:size-off], true
	}
	h, err := r.handles.acquire(r.key)
	if err != nil {
		return 0, err
	}
	defer r.handles.release(h)
	n, err := h.r.ReadAt(ctx, p, off)
	if err != nil && err != io.EOF {
		return 0, err
	}
	if err := r.verify(ctx, h); err != nil {
		return 0, err
	}
	if n < len(p) {
		return 0, staleError(r.key.path)
	}
	if end {
		return n, io.EOF
	}
	return n, nil
}

// verify tells by the state of the file after a read whether the read gave
// bytes of the version.
func (r *fileReader) verify(ctx context.Context, h *handle) error {
	info, err := h.file.Stat()
	if err != nil {
		return err
	}
	if _, ok := info.Sys().(immutable); ok {
		return nil
	}
	now := versionOf(info)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.stale:
		return staleError(r.key.path)
	case now == r.seen:
		return nil
	case now.Size < r.key.v.Size, now.Size == r.key.v.Size && !r.same(now):
		r.stale = true
		return staleError(r.key.path)
	}
	tail, err := r.tailHash(ctx, h)
	if err != nil {
		return err
	}
	if r.seen != (version{}) && tail != r.tail {
		r.stale = true
		return staleError(r.key.path)
	}
	r.seen, r.tail = now, tail
	return nil
}

// same tells whether a file of the same size has the same bytes: that it was
// changed is seen by its times. Who sets the modification time back cannot
// set back when that was done; but to link, unlink or rename a file counts as
// a change, too.
func (r *fileReader) same(now version) bool {
	last := r.seen
	if last == (version{}) {
		last = r.key.v
	}
	if now.Modified != r.key.v.Modified || now.Nanos != r.key.v.Nanos {
		return false
	}
	if now.Changed == last.Changed || now.links != last.links {
		return true
	}
	info, err := iofs.Lstat(r.handles.fsys, r.key.path)
	return isGone(err) || err == nil && r.key.v.otherFile(info)
}

func (r *fileReader) tailHash(ctx context.Context, h *handle) (uint64, error) {
	n := min(tailSize, r.key.v.Size)
	b := make([]byte, n)
	if got, err := h.r.ReadAt(ctx, b, r.key.v.Size-n); got < len(b) {
		if err == io.EOF {
			err = staleError(r.key.path)
		}
		return 0, err
	}
	return maphash.Bytes(tailSeed, b), nil
}

// A plainFile is a file of the source that is shown as it is. It is a value,
// equal to another of the same version of the same file.
type plainFile struct {
	a    *archive
	path string
	v    version
}

func (f plainFile) Size(context.Context) (int64, error) { return f.v.Size, nil }

func (f plainFile) Open(context.Context) (nodes.Content, error) {
	return nodes.SectionContent(newFileReader(f.a.handles, f.path, f.v), 0, f.v.Size), nil
}
