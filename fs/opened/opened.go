// Package opened keeps files open for those who read them, at the same time or one after the other.
package opened

import (
	"context"
	"hash/maphash"
	"sync/atomic"
	"time"

	"recfs/cache"
	"recfs/nodes"
)

// uncounted is how many bytes of memory an open file may keep that count as nothing.
const uncounted = 64 << 10

// Files are the open files, by what tells them apart.
type Files[K comparable] struct {
	*cache.LRU[K, *content]
	once bool
}

// New returns Files that keep so many open, and each for a while after it was read. once says that
// readers keep what they got: one of which each byte was read once is not kept.
func New[K comparable](most int, idle time.Duration, once bool) Files[K] {
	return Files[K]{cache.NewLRU[K](cache.LRUOptions[*content]{Max: most, Idle: idle, Close: (*content).close}), once}
}

// A content is a file that is open.
type content struct {
	nodes.Content
	held *cache.Held   // what it keeps in memory; nil: next to nothing
	sum  atomic.Uint64 // of [cover] over all reads
}

func (c *content) close() {
	nodes.CloseContent(c.Content)
	c.held.Free()
}

// Read calls read with the content of a file, which open opens unless it is open. read tells how
// many bytes it gave from off on. A file of which a read failed is opened anew for the next one.
func (f Files[K]) Read(ctx context.Context, key K, open func(context.Context) (nodes.Content, error), off int64, read func(nodes.Content) (n int, err error)) error {
	c, err := f.Acquire(ctx, key, func(ctx context.Context) (*content, error) { return f.open(ctx, key, open) })
	if err != nil {
		return err
	}
	done := c.Discard // where read panics, too
	defer func() { done() }()
	n, err := read(c.Value.Content)
	switch sum := c.Value.sum.Add(cover(off, off+int64(n))); {
	case err == nil && f.once && sum == cover(0, c.Value.Size()):
		done = c.Forget
	case err == nil, cache.IsShort(err), ctx.Err() != nil: // the file has not failed
		done = c.Release
	}
	return err
}

// open opens a file for others, too. What it keeps in memory counts until it is closed, which is
// when others need the memory and nobody reads it at that moment.
func (f Files[K]) open(ctx context.Context, key K, open func(context.Context) (nodes.Content, error)) (*content, error) {
	opened, err := open(ctx)
	if err != nil {
		return nil, err
	}
	c := &content{Content: opened}
	if n := nodes.Held(opened); n > uncounted {
		if c.held, err = cache.Charge(ctx, n); err != nil {
			c.close()
			return nil, err
		}
		c.held.Keep(func() bool { return f.DropIf(key, func(kept *content) bool { return kept == c }) })
	}
	return c, nil
}

// cover returns what a read of the bytes from start to before end adds to the sum of a content.
// Where one read ends and another begins, what they add cancels out. So the sum becomes that of a
// read of the whole file when each byte was read once, and hardly ever otherwise.
func cover(start, end int64) uint64 {
	return maphash.Comparable(seed, end) - maphash.Comparable(seed, start)
}

var seed = maphash.MakeSeed()
