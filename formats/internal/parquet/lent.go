package parquet

import (
	"context"
	"sync"
	"sync/atomic"
)

// A madeGroup is a row group that was made. It counts its users, as its memory takes the next one
// when all of it was lent: fresh memory costs the system about as much as the rows take to decode.
type madeGroup struct {
	bytes []byte
	left  atomic.Int64 // bytes that were not lent yet, if none was lent twice
	users atomic.Int32 // gone: the memory is that of another group
}

const gone = -1

// use returns the bytes of a group, and done, which takes how many of them were lent. A group that
// was lent as a whole is not kept for others: its readers have it.
func (r *files) use(ctx context.Context, k groupKey) (b []byte, done func(lent int), err error) {
	for {
		g, err := r.groups.Get(ctx, k)
		if err != nil {
			return nil, nil, err
		}
		if !g.begin() {
			r.groups.Drop(k) // it went since it was found
			continue
		}
		return g.bytes, func(lent int) {
			g.users.Add(-1)
			if left := g.left.Add(-int64(lent)); left <= 0 && lent > 0 {
				r.groups.Drop(k)
				g.end()
			}
		}, nil
	}
}

// begin counts one more user. ok is false if the memory is not that of the group any more.
func (g *madeGroup) begin() (ok bool) {
	for n := g.users.Load(); n != gone; n = g.users.Load() {
		if g.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
	return false
}

// end gives the memory of the group to another one, if nobody uses it.
func (g *madeGroup) end() {
	if cap(g.bytes) <= maxBuffer && g.users.CompareAndSwap(0, gone) {
		buffers.Put(&g.bytes)
	}
}

// buffers have the memory of row groups to use again, as much as a usual one has at most: the
// garbage collector takes what nobody uses for long.
var buffers sync.Pool // of *[]byte

const maxBuffer = 4 << 20

// takeBuffer returns memory to use again for n bytes, or none: a small group would keep that of a
// large one.
func takeBuffer(n int64) []byte {
	b, ok := buffers.Get().(*[]byte)
	switch {
	case !ok:
		return nil
	case int64(cap(*b)) > 2*n:
		buffers.Put(b)
		return nil
	}
	return *b
}
