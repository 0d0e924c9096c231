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
	nodes.Entry
	t    *tree
	tag  string // "": nothing tells the version
	size int64
}

// object returns the file at the end of a way, whose ETag ends in a mark. The first read opens it.
func (t *tree) object(ctx context.Context, way nodes.Way, mark string) (*object, error) {
	return made(ctx, t, func(ctx context.Context) (*object, error) {
		o := &object{Entry: way.Last(), t: t}
		var err error
		if o.tag, err = t.tag(ctx, way, mark); err == nil {
			o.size, err = o.File.Size(ctx)
		}
		return o, err
	})
}

// get returns the way to what is called name, and the object if that is a file, unless it is behind
// links that are not followed.
func (t *tree) get(ctx context.Context, name, mark string, follow bool) (way nodes.Way, o *object, err error) {
	err = t.within(ctx, func(ctx context.Context) error {
		if way, err = t.find(ctx, name); err == nil && way.Last().File != nil && (follow || way.Links == 0) {
			o, err = t.object(ctx, way, mark)
		}
		return err
	})
	return way, o, err
}

// A contentKey tells apart contents: by the ETag, or else each object has one of its own.
type contentKey struct {
	tag string
	of  *object
}

func (o *object) key() contentKey {
	if o.tag == "" {
		return contentKey{of: o}
	}
	return contentKey{tag: o.tag}
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
		return o.t.contents.Read(ctx, o.key(), o.File.Open, off, func(c nodes.Content) (int, error) {
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
