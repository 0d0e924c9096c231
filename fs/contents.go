//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"sync"
	"time"

	"recfs/cache"
	"recfs/nodes"
)

const (
	maxContents    = 64 // open Contents
	contentsIdle   = 10 * time.Second
	uncountedBytes = 64 << 10 // what a Content may keep in memory that counts as nothing
)

// A contentKey names an open file: entry index of a directory, or the numbered node itself (-1).
type contentKey struct {
	node  *node
	index int
}

// A content is an open Content that readers share.
type content struct {
	nodes.Content
	held *cache.Held // what it keeps in memory; nil: next to nothing

	mu   sync.Mutex
	read spans
}

func (c *content) close() {
	nodes.CloseContent(c.Content)
	c.held.Free()
}

// contents are the Contents that READs used last. Without OPEN and RELEASE nobody says when a file
// is in use.
type contents = cache.LRU[contentKey, *content]

// A contentRef is a content in use.
type contentRef = cache.Ref[contentKey, *content]

func newContents() *contents {
	return cache.NewLRU[contentKey](cache.LRUOptions[*content]{
		Max: maxContents, Idle: contentsIdle, Close: (*content).close,
	})
}

// served ends one use of a content, a READ that gave n bytes from off on. A content of which every
// byte was read, and none of them twice, is not likely to be read again, as the kernel has all of
// it now. A byte that was read twice was not kept there (direct I/O, little memory): others may
// want the rest.
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
