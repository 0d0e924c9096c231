package container

import (
	"bytes"
	"testing"

	"recfs/formats"
	"recfs/nodes/nodestest"
)

// What was read last is not read again, and an empty read before that asks for nothing of it.
func TestRecent(t *testing.T) {
	b := make([]byte, 3*recentSize)
	for i := range b {
		b[i] = byte(i % 251)
	}
	src := &nodestest.Counted{ReaderAt: formats.BytesReader(b)}
	r := recentReader{&recent{}, src}
	for _, c := range []struct {
		off   int64
		n     int
		reads int64 // of the source so far
	}{
		{5, 0, 1}, {5, 10, 1}, {100, 200, 1}, {5 + recentSize - 1, 1, 1}, {5 + recentSize, 1, 2}, {5, 1, 3}, {7, recentSize + 1, 4}, {8, 3, 4},
	} {
		p := make([]byte, c.n)
		n, err := r.ReadAt(t.Context(), p, c.off)
		if err != nil || !bytes.Equal(p[:n], b[c.off:c.off+int64(c.n)]) || src.Reads.Load() != c.reads {
			t.Errorf("%d bytes at %d: %d, %v, after %d reads, not %d", c.n, c.off, n, err, src.Reads.Load(), c.reads)
		}
	}
	if r := (recentReader{&recent{}, src}); r.get(nil, 0) {
		t.Error("there is something before anything was read")
	}
}
