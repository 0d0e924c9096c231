package web

import (
	"context"
	"io"
	"time"

	"recfs/cache"
	"recfs/nodes"
)

const (
	contentsIdle   = 3 * time.Second
	uncountedBytes = 64 << 10 // what an open content may keep in memory that counts as nothing
)

// An openContent is a file that is open for all requests that read this version of it.
type openContent struct {
	nodes.Content
	held *cache.Held // what it keeps in memory; nil: next to nothing
}

func (c *openContent) close() {
	nodes.CloseContent(c.Content)
	c.held.Free()
}

// A contentKey is the ETag of a file, or the object that has none.
type contentKey struct {
	tag string
	own *object
}

// newContents returns the contents that were read last. Those who may work at a time read them, and
// for as many their clients take the time to ask for more.
func newContents(working int) *cache.LRU[contentKey, *openContent] {
	return cache.NewLRU[contentKey](cache.LRUOptions[*openContent]{
		Max: 2 * working, Idle: contentsIdle, Close: (*openContent).close,
	})
}

// An object is a file as a request found it. Between two reads it may be closed, as others need the
// memory.
type object struct {
	t    *tree
	file nodes.File
	tag  string // "": nothing tells the version
	size int64
}

// object returns the file at the end of a way, whose ETag ends in a mark. The first read opens it;
// an empty one has none.
func (t *tree) object(ctx context.Context, way nodes.Way, mark string) (*object, error) {
	o := &object{t: t, file: way.Last().File}
	err := t.within(ctx, func(ctx context.Context) (err error) {
		if o.tag, err = t.tag(ctx, way, mark); err == nil {
			o.size, err = o.file.Size(ctx)
		}
		return err
	})
	if err == nil && o.size == 0 {
		_, err = o.ReadAt(ctx, nil, 0)
	}
	return o, err
}

func (o *object) key() contentKey {
	if o.tag == "" {
		return contentKey{own: o}
	}
	return contentKey{tag: o.tag}
}

// Close implements io.Closer.
func (o *object) Close() {
	if o.tag == "" {
		o.t.contents.Drop(o.key())
	}
}

// open opens the file. What it keeps in memory counts until it is closed, which is when others need
// the memory and nobody reads it at that moment.
func (o *object) open(ctx context.Context) (*openContent, error) {
	c, err := o.file.Open(ctx)
	if err != nil {
		return nil, err
	}
	opened := &openContent{Content: c}
	if n := nodes.Held(c); n > uncountedBytes {
		if opened.held, err = cache.Charge(ctx, n); err != nil {
			opened.close()
			return nil, err
		}
		opened.held.Keep(func() bool { return o.t.contents.Drop(o.key()) })
	}
	return opened, nil
}

// ReadAt implements nodes.ReaderAt: it reads all of p, or is an error.
func (o *object) ReadAt(ctx context.Context, p []byte, off int64) (n int, err error) {
	err = o.t.within(ctx, func(ctx context.Context) error {
		c, err := o.t.contents.Acquire(ctx, o.key(), o.open)
		if err != nil {
			return err
		}
		done := c.Discard // what failed is opened anew
		defer func() { done() }()
		if got := c.Value.Size(); got != o.size {
			return nodes.SizeError(o.size, got)
		}
		n = 0
		if len(p) > 0 {
			n, err = c.Value.ReadAt(ctx, p, off)
		}
		switch {
		case n == len(p):
			done = c.Release
			return nil
		case err == nil, err == io.EOF:
			return nodes.SizeError(int64(len(p)), int64(n))
		case cache.IsShort(err), ctx.Err() != nil:
			done = c.Release // the file has not failed
		}
		return err
	})
	return n, err
}
