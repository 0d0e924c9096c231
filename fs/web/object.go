package web

import (
	"context"
	"io"
	"time"

	"recfs/nodes"
)

// contentsIdle is how long a file stays open after it was read.
const contentsIdle = 3 * time.Second

// An object is a file as a request found it. Between two reads it may be closed, as others need the
// memory.
type object struct {
	t    *tree
	file nodes.File
	tag  string // "": nothing tells the version
	size int64
}

// object returns the file at the end of a way, whose ETag ends in a mark. The first read opens it.
func (t *tree) object(ctx context.Context, way nodes.Way, mark string) (*object, error) {
	return made(ctx, t, func(ctx context.Context) (*object, error) {
		o := &object{t: t, file: way.Last().File}
		var err error
		if o.tag, err = t.tag(ctx, way, mark); err == nil {
			o.size, err = o.file.Size(ctx)
		}
		return o, err
	})
}

// key tells apart contents: by the ETag, or else each object has one of its own.
func (o *object) key() any {
	if o.tag == "" {
		return o
	}
	return o.tag
}

// Close implements io.Closer.
func (o *object) Close() {
	if o.tag == "" {
		o.t.contents.Drop(o.key())
	}
}

// ReadAt implements nodes.ReaderAt: it reads all of p, or is an error.
func (o *object) ReadAt(ctx context.Context, p []byte, off int64) (n int, err error) {
	err = o.t.within(ctx, func(ctx context.Context) error {
		return o.t.contents.Read(ctx, o.key(), o.file, off, func(c nodes.Content) (int, error) {
			if got := c.Size(); got != o.size {
				return 0, nodes.SizeError(o.size, got)
			}
			n = 0
			if len(p) > 0 {
				n, err = c.ReadAt(ctx, p, off)
			}
			if n == len(p) {
				return n, nil
			}
			if err == nil || err == io.EOF {
				err = nodes.SizeError(int64(len(p)), int64(n))
			}
			return n, err
		})
	})
	return n, err
}
