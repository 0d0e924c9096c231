package fs

import (
	"container/list"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"recfs/nodes"
)

const (
	maxContents     = 64       // open Contents
	maxContentBytes = 16 << 20 // sum of their sizes, an upper bound of what they keep in memory
	minContents     = 4        // kept however large they are, so that no READ has to decode again
	contentsIdle    = 10 * time.Second
)

// A contentKey names an open file: entry index of a directory, or the
// numbered node itself (-1).
type contentKey struct {
	node  *node
	index int
}

// A content is an open Content that readers share. It is closed when it is
// neither remembered nor in use.
type content struct {
	nodes.Content
	err   error
	ready chan struct{} // closed once Content or err is set

	key     contentKey
	place   *list.Element // nil: not remembered
	size    int64
	served  spans
	users   int
	touched bool // since the last sweep
}

// contents remembers the Contents that READs used last. Without OPEN and
// RELEASE nobody says when a file is in use.
type contents struct {
	mu     sync.Mutex
	byKey  map[contentKey]*content
	recent list.List // of *content, the last used in front
	bytes  int64
	timer  *time.Timer // nil while nothing is remembered
	closed bool
}

// acquire returns the open Content of the file with that key. All who ask at
// the same time share one Open, but not the end of its context.
func (c *contents) acquire(ctx context.Context, key contentKey, file nodes.File) (*content, error) {
	for {
		o, found := c.join(key)
		if !found {
			return c.open(ctx, o, file)
		}
		err := o.wait(ctx)
		if err == nil {
			return o, nil
		}
		c.release(o)
		if ctx.Err() != nil || !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
}

// wait returns when the content is open, or cannot be, or ctx ends. What is
// open already is of use even to a caller who was interrupted.
func (o *content) wait(ctx context.Context) error {
	select {
	case <-o.ready:
		return o.err
	default:
	}
	select {
	case <-o.ready:
		return o.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join returns the content with that key for one more user, and whether it
// was there before: who finds a new one has to open it.
func (c *contents) join(key contentKey) (o *content, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.byKey[key]; o != nil {
		o.users++
		o.touched = true
		c.recent.MoveToFront(o.place)
		return o, true
	}
	o = &content{key: key, ready: make(chan struct{}), users: 1, touched: true}
	o.place = c.recent.PushFront(o)
	if c.byKey == nil {
		c.byKey = map[contentKey]*content{}
	}
	c.byKey[key] = o
	if c.timer == nil && !c.closed {
		c.timer = time.AfterFunc(contentsIdle, c.sweep)
	}
	return o, false
}

func (c *contents) open(ctx context.Context, o *content, file nodes.File) (*content, error) {
	o.err = errors.New("opening the file failed") // unless Open returns
	defer func() {
		c.mu.Lock()
		if o.err != nil {
			c.drop(o)
		} else if o.place != nil {
			o.size = o.Size()
			c.bytes += o.size
			c.trim()
		}
		c.mu.Unlock()
		close(o.ready)
	}()
	o.Content, o.err = file.Open(ctx)
	if o.err != nil {
		return nil, o.err
	}
	return o, nil
}

// served ends one use of a content, a READ that gave n bytes from off on. A
// content of which every byte was read, and none of them twice, is not likely
// to be read again, as the kernel has all of it now. A byte that was read twice
// was not kept there (direct I/O, little memory): others may want the rest.
func (c *contents) served(o *content, off, n int64) {
	c.mu.Lock()
	o.served.add(off, off+n)
	all := o.served.once(o.Size())
	c.mu.Unlock()
	if all {
		c.forget(o)
	} else {
		c.release(o)
	}
}

// release ends one use of a content.
func (c *contents) release(o *content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o.users--
	o.closeUnused()
	c.trim()
}

// forget ends one use of a content that is not likely to be read again.
func (c *contents) forget(o *content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o.users--
	if o.users == 0 {
		c.drop(o)
	}
}

// trim drops the contents used longest ago, as far as there are too many. The
// caller holds the lock.
func (c *contents) trim() {
	for e := c.recent.Back(); e != nil; {
		n := c.recent.Len()
		if n <= minContents || n <= maxContents && c.bytes <= maxContentBytes {
			return
		}
		o := e.Value.(*content)
		e = e.Prev()
		if o.users == 0 {
			c.drop(o)
		}
	}
}

// sweep drops what was not used since the last sweep.
func (c *contents) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.recent.Front(); e != nil; {
		o := e.Value.(*content)
		e = e.Next()
		if !o.touched && o.users == 0 {
			c.drop(o)
		}
		o.touched = false
	}
	if c.closed || c.recent.Len() == 0 {
		c.timer = nil
		return
	}
	c.timer.Reset(contentsIdle)
}

// drop stops remembering o. The caller holds the lock.
func (c *contents) drop(o *content) {
	if o.place == nil {
		return
	}
	c.recent.Remove(o.place)
	delete(c.byKey, o.key)
	c.bytes -= o.size
	o.place = nil
	o.closeUnused()
}

// closeUnused closes the Content if nobody can read it any more.
func (o *content) closeUnused() {
	if o.users > 0 || o.place != nil {
		return
	}
	if closer, ok := o.Content.(io.Closer); ok {
		closer.Close()
	}
}

// close drops everything that is not in use.
func (c *contents) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.timer != nil {
		c.timer.Stop()
	}
	for e := c.recent.Front(); e != nil; {
		o := e.Value.(*content)
		e = e.Next()
		c.drop(o)
	}
}

func (c *contents) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.recent.Len()
}
