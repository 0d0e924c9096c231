package web

import (
	"context"
	"io"
	"sync"

	"recfs/cache"
	"recfs/nodes"
)

// uncountedBytes is what an open content may keep in memory that counts as nothing.
const uncountedBytes = 64 << 10

// An object is a file while a request reads it. Between two reads it gives up what it keeps in
// memory if others need that, and opens the file again.
type object struct {
	t    *tree
	ctx  context.Context // of the request
	file nodes.File
	size int64
	off  int64 // of the next Read

	mu      sync.Mutex
	content nodes.Content // nil: it is not open
	held    *cache.Held
}

// newObject returns the file, which the first read opens; an empty one has none.
func (t *tree) newObject(ctx context.Context, file nodes.File) (*object, error) {
	o := &object{t: t, ctx: ctx, file: file}
	err := t.within(ctx, func(ctx context.Context) (err error) {
		if o.size, err = file.Size(ctx); err == nil && o.size == 0 {
			err = o.open(ctx)
		}
		return err
	})
	return o, err
}

// open opens the file unless it is.
func (o *object) open(ctx context.Context) error {
	if o.content != nil {
		return nil
	}
	c, err := o.file.Open(ctx)
	if err != nil {
		return err
	}
	o.content = c
	if got := c.Size(); got != o.size {
		o.close()
		return nodes.SizeError(o.size, got)
	}
	if n := nodes.Held(c); n > uncountedBytes {
		if o.held, err = cache.Charge(ctx, n); err != nil {
			o.close()
			return err
		}
		o.held.Keep(o.yield)
	}
	return nil
}

func (o *object) close() {
	if o.content != nil {
		nodes.CloseContent(o.content)
	}
	o.held.Free()
	o.content, o.held = nil, nil
}

// yield closes the file for those who need the memory, unless it is being read.
func (o *object) yield() bool {
	if !o.mu.TryLock() {
		return false
	}
	defer o.mu.Unlock()
	if o.content == nil {
		return false
	}
	o.close()
	return true
}

// Close implements io.Closer.
func (o *object) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.close()
	return nil
}

// Read implements io.Reader: it reads as much as there is room for, or is an error.
func (o *object) Read(p []byte) (int, error) {
	want := min(int64(len(p)), o.size-o.off)
	if want <= 0 {
		return 0, io.EOF
	}
	err := o.t.within(o.ctx, func(ctx context.Context) error {
		o.mu.Lock()
		defer o.mu.Unlock()
		if err := o.open(ctx); err != nil {
			return err
		}
		n, err := o.content.ReadAt(ctx, p[:want], o.off)
		switch {
		case int64(n) == want:
			return nil
		case err == nil, err == io.EOF:
			return nodes.SizeError(want, int64(n))
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	o.off += want
	return int(want), nil
}

// Seek implements io.Seeker.
func (o *object) Seek(off int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		off += o.off
	case io.SeekEnd:
		off += o.size
	}
	o.off = off
	return off, nil
}
