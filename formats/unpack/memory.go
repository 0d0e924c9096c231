package unpack

import (
	"context"
	"runtime"
	"sync"
	"time"

	"recfs/cache"
)

const (
	// freeRoom is how much a Memory gives out beside the budget of the cache.
	freeRoom = 16 << 20

	// decoderCost is what a decoder takes besides its window: its input, its
	// tables, and the frame that it makes.
	decoderCost = 1 << 20

	// maxDropped is how much memory of windows is left to the garbage collector,
	// which hears of the large ones when the next are there already.
	maxDropped = 64 << 20

	// restTime is how long a decoder that others wait for stays without a read.
	restTime = 2 * time.Second
)

// A Memory bounds the memory in which files are decompressed: the windows of
// decoders, those that wait for the next read among them, and what becomes a
// value of the cache. What it gives out the cache has less, as far as it can.
//
// Who needs more than is left waits for what others give back, and takes it
// from decoders that are not read. While it holds some it may need the file
// that its own lies in to be decompressed; so whatever is in use, one at each
// depth of containers gets what it needs. Those at depth 0 wait for nobody who
// waits for a deeper one, and so on: there is always one that ends.
type Memory struct {
	reserved *cache.Room
	limit    int64
	turn     []chan struct{} // at each depth: holds one while somebody waits for memory

	mu      sync.Mutex
	used    int64
	depths  []int64       // used at each
	freed   chan struct{} // closed when used has become less
	dropped int64         // since the last collection
	resting map[yielder]time.Time
}

// A yielder has a decoder that it can give up: it reports whether it did.
type yielder interface{ yield() bool }

// NewMemory returns the memory for files in up to maxDepth containers.
func NewMemory(c *cache.Cache, maxDepth int) *Memory {
	w := &Memory{
		reserved: c.Room(), limit: freeRoom + max(c.Budget(), 0)/4*3,
		turn: make([]chan struct{}, maxDepth+1), depths: make([]int64, maxDepth+1),
		freed: make(chan struct{}), resting: map[yielder]time.Time{},
	}
	for i := range w.turn {
		w.turn[i] = make(chan struct{}, 1)
	}
	return w
}

// acquire waits for n bytes of memory for a file at a depth.
func (w *Memory) acquire(ctx context.Context, depth int, n int64) error {
	if n == 0 {
		return nil
	}
	select {
	case w.turn[depth] <- struct{}{}:
		defer func() { <-w.turn[depth] }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		freed, ok := w.take(depth, n)
		if ok {
			return nil
		}
		if w.reclaim() {
			continue
		}
		select {
		case <-freed:
		case <-time.After(restTime / 8): // a decoder may rest by now
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take takes n bytes if they are left, or else returns what tells that there
// are more.
func (w *Memory) take(depth int, n int64) (freed chan struct{}, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.used+n > w.limit && w.depths[depth] > 0 {
		return w.freed, false
	}
	w.add(depth, n)
	return nil, true
}

func (w *Memory) release(depth int, n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(depth, -n)
	close(w.freed)
	w.freed = make(chan struct{})
}

// drop notes that a window of n bytes is not used again, before it is released.
func (w *Memory) drop(n int64) {
	w.mu.Lock()
	w.dropped += n
	collect := w.dropped >= maxDropped
	if collect {
		w.dropped = 0
	}
	w.mu.Unlock()
	if collect {
		runtime.GC()
	}
}

// add changes what is used. The caller holds mu.
func (w *Memory) add(depth int, n int64) {
	w.used += n
	w.depths[depth] += n
	w.reserved.Resize(max(w.used-freeRoom, 0))
}

// rest notes that nobody reads u, which has a decoder, at this moment.
func (w *Memory) rest(u yielder) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resting[u] = time.Now()
}

// gone notes that u has no decoder any more.
func (w *Memory) gone(u yielder) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.resting, u)
}

// reclaim takes the decoder from the file that was not read for the longest
// time, and tells whether there is one.
func (w *Memory) reclaim() bool {
	for u := w.longest(); u != nil; u = w.longest() {
		if u.yield() {
			return true
		}
	}
	return false
}

// longest returns the file that rests for the longest time, if that is long
// enough, and counts that time anew.
func (w *Memory) longest() (u yielder) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	last := now.Add(-restTime)
	for other, since := range w.resting {
		if since.Before(last) {
			u, last = other, since
		}
	}
	if u != nil {
		w.resting[u] = now
	}
	return u
}
