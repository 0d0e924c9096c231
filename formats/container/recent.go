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
	b  []byte // does not change
}

// get fills p from off on if all of it was read.
func (s *recent) get(p []byte, off int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := off - s.at
	return i >= 0 && i <= int64(len(s.b))-int64(len(p)) && copy(p, s.b[i:]) == len(p)
}

func (s *recent) set(b []byte, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.b = at, b
}

// A recentReader reads a source by way of what was read of it last.
type recentReader struct {
	*recent
	r nodes.ReaderAt
}

func (r recentReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if r.get(p, off) {
		return len(p), nil
	}
	b := make([]byte, max(recentSize, len(p)))
	n, err := r.r.ReadAt(ctx, b, off)
	if n < len(p) {
		return copy(p, b[:n]), err
	}
	r.set(b[:n], off)
	return copy(p, b), nil
}
