//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"context"
	"io"
	"sync"
	"time"

	"recfs/cache"
	"recfs/nodes"
)

const (
	maxContents     = 64       // open Contents
	maxContentBytes = 16 << 20 // sum of their sizes, an upper bound of what they keep in memory
	minContents     = 4        // kept however large they are, so that no READ has to decode again
	contentsIdle    = 10 * time.Second
)

// A contentKey names an open file: entry index of a directory, or the numbered node itself (-1).
type contentKey struct {
	node  *node
	index int
}

// A content is an open Content that readers share.
type content struct {
	nodes.Content

	mu   sync.Mutex
	read spans
}

func (c *content) close() {
	if closer, ok := c.Content.(io.Closer); ok {
		closer.Close()
	}
}

// contents are the Contents that READs used last. Without OPEN and RELEASE nobody says when a file
// is in use.
type contents = cache.LRU[contentKey, *content]

// A contentRef is a content in use.
type contentRef = cache.Ref[contentKey, *content]

func newContents() *contents {
	return cache.NewLRU[contentKey](cache.LRUOptions[*content]{
		Max: maxContents, MaxBytes: maxContentBytes, Min: minContents, Idle: contentsIdle,
		Size: func(c *content) int64 { return c.Size() }, Close: (*content).close,
	})
}

// acquire returns the open Content of the item.
func (s *server) acquire(ctx context.Context, it item) (*contentRef, error) {
	return s.contents.Acquire(ctx, it.key, func(ctx context.Context) (*content, error) {
		c, err := it.File.Open(ctx)
		if err != nil {
			return nil, err
		}
		return &content{Content: c}, nil
	})
}

// served ends one use of a content, a READ that gave n bytes from off on. A content of which every
// byte was read, and none of them twice, is not likely to be read again, as the kernel has all of it
// now. A byte that was read twice was not kept there (direct I/O, little memory): others may want the
// rest.
func served(r *contentRef, off, n int64) {
	c := r.Value
	c.mu.Lock()
	c.read.add(off, off+n)
	all := c.read.once(c.Size())
	c.mu.Unlock()
	if all {
		r.Forget()
	} else {
		r.Release()
	}
}
