//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"sync/atomic"
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
	held *cache.Held   // what it keeps in memory; nil: next to nothing
	read atomic.Uint64 // the sum of [cover] over all reads
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

// cover returns what a read of the bytes from start to before end adds to the sum of a content.
// Where one read ends and another begins, what they add cancels out. So the sum becomes that of a
// read of the whole file when each byte was read once, and hardly ever otherwise.
func cover(start, end int64) uint64 { return mix(uint64(end)) - mix(uint64(start)) }

// served ends one use of a content, a READ that gave n bytes from off on. A content whose bytes
// were each read once is not likely to be read again, as the kernel has all of it now. A byte that
// was read twice was not kept there (direct I/O, little memory): other readers may want the rest.
func served(r *contentRef, off, n int64) {
	if c := r.Value; c.read.Add(cover(off, off+n)) == cover(0, c.Size()) {
		r.Forget()
	} else {
		r.Release()
	}
}
