// Package source is where files come from: a directory of this machine, its files held open
// between reads, and the reads that notice when a file is not what it was.
package source

import (
	"context"
	"hash/maphash"
	"io"
	iofs "io/fs"
	"sync"
)

// tailSize is how much before the end of a version is compared when the file
// has grown since.
const tailSize = 4096

var tailSeed = maphash.MakeSeed()

// A Reader reads one version of a file: the first size bytes it had
// then. After every read it looks whether the file still has them. A file
// that was appended to does, as far as the last bytes of the version tell;
// one that was replaced, shortened or changed gives nodes.ErrStale.
type Reader struct {
	files *Files
	key   FileKey
	open  func(context.Context) (File, error)

	mu    sync.Mutex
	seen  Version // the last state that was found to have the bytes
	tail  uint64  // hash of the last bytes of the version
	stale bool
}

// NewReader returns a reader of a version of a file.
func NewReader(h *Files, key FileKey) *Reader {
	return &Reader{files: h, key: key, open: h.opener(key)}
}

// ReadAt reads from the version.
func (r *Reader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	size := r.key.Version.Size
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
	f, err := r.files.open.Acquire(ctx, r.key, r.open)
	if err != nil {
		return 0, err
	}
	defer f.Release()
	n, readErr := r.files.read(ctx, f.Value, p, off)
	if readErr != nil && readErr != io.EOF && n == 0 {
		return 0, readErr
	}
	if err := r.verify(ctx, f.Value); err != nil {
		return 0, err
	}
	switch {
	case readErr != nil && readErr != io.EOF:
		return n, readErr
	case n < len(p):
		return 0, Stale(r.key.Path)
	}
	if end {
		return n, io.EOF
	}
	return n, nil
}

// Check reads a version of no bytes in a container, which is never read otherwise. The read may
// tell that there are some.
func (r *Reader) Check(ctx context.Context) error {
	f, err := r.files.open.Acquire(ctx, r.key, r.open)
	if err != nil {
		return nil
	}
	defer f.Release()
	if info, err := f.Value.Info(ctx); err != nil || !info.Fixed {
		return nil
	}
	if _, err := r.files.read(ctx, f.Value, make([]byte, 1), 0); err != io.EOF {
		return err
	}
	return nil
}

// verify tells by the state of the file after a read whether the read gave
// bytes of the version.
func (r *Reader) verify(ctx context.Context, f File) error {
	info, err := r.state(ctx, f)
	if err != nil || info.Fixed {
		return err
	}
	now := info.Version
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.stale:
		return Stale(r.key.Path)
	case now == r.seen:
		return nil
	case now.Size < r.key.Version.Size, now.Size == r.key.Version.Size && !r.same(ctx, now):
		r.stale = true
		return Stale(r.key.Path)
	}
	tail, err := r.tailHash(ctx, f)
	if err != nil {
		return err
	}
	if r.seen != (Version{}) && tail != r.tail {
		r.stale = true
		return Stale(r.key.Path)
	}
	r.seen, r.tail = now, tail
	return nil
}

// A settler is a File of which a write that is under way can be waited for.
type settler interface{ settle() }

// state returns the state of a file. A system may tell the times of a write before it tells the
// size: a file of other times and the same size may be one that grows this moment.
func (r *Reader) state(ctx context.Context, f File) (Info, error) {
	info, err := f.Info(ctx)
	if s, ok := f.(settler); ok && err == nil && info.Size == r.key.Version.Size && !info.Time().Equal(r.key.Version.Time()) {
		s.settle()
		info, err = f.Info(ctx)
	}
	return info, err
}

// same tells whether a file of the same size has the same bytes: that it was changed is seen by its
// times. A program that sets the modification time back cannot set back when that was done; but to
// link, unlink or rename a file counts as a change, too.
func (r *Reader) same(ctx context.Context, now Version) bool {
	last := r.seen
	if last == (Version{}) {
		last = r.key.Version
	}
	if now.Modified != r.key.Version.Modified || now.Nanos != r.key.Version.Nanos {
		return false
	}
	if now.Changed == last.Changed || now.Links != last.Links {
		return true
	}
	info, err := r.files.tree.Stat(ctx, r.key.Path)
	return IsGone(err) || err == nil && r.key.Version.otherFile(info)
}

func (r *Reader) tailHash(ctx context.Context, f File) (uint64, error) {
	n := min(tailSize, r.key.Version.Size)
	b := make([]byte, n)
	if got, err := r.files.read(ctx, f, b, r.key.Version.Size-n); got < len(b) {
		if err == io.EOF {
			err = Stale(r.key.Path)
		}
		return 0, err
	}
	return maphash.Bytes(tailSeed, b), nil
}
