package container

import (
	"context"
	"sync"

	"recfs/nodes"
)

// recentSize is how much is read at once: some 50 entries of the directory of a zip.
const recentSize = 4 << 10

// A recent is the part of a source that was read last, for those who read short things that stand side by side.
type recent struct {
	mu sync.Mutex
	at int64
	n  int
	b  *[recentSize]byte // nil: nothing was read yet
}

var recentBuffers = sync.Pool{New: func() any { return new([recentSize]byte) }}

// get fills p from off on if all of it was read.
func (s *recent) get(p []byte, off int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := off - s.at
	return s.b != nil && i >= 0 && i <= int64(s.n-len(p)) && copy(p, s.b[i:s.n]) == len(p)
}

// set takes the first n bytes of b in place of what was there.
func (s *recent) set(b *[recentSize]byte, n int, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.b != nil {
		recentBuffers.Put(s.b)
	}
	s.at, s.n, s.b = at, n, b
}

// A recentReader reads a source by way of what was read of it last.
type recentReader struct {
	*recent
	r nodes.ReaderAt
}

func (r recentReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if len(p) > recentSize {
		return r.r.ReadAt(ctx, p, off)
	}
	if r.get(p, off) {
		return len(p), nil
	}
	b := recentBuffers.Get().(*[recentSize]byte)
	n, err := r.r.ReadAt(ctx, b[:], off)
	got := copy(p, b[:n])
	if got < len(p) {
		recentBuffers.Put(b)
		return got, err
	}
	r.set(b, n, off)
	return got, nil
}
