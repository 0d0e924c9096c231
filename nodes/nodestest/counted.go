package nodestest

import (
	"context"
	"sync/atomic"

	"recfs/nodes"
)

// Counted counts what is read of a ReaderAt.
type Counted struct {
	nodes.ReaderAt
	Reads, Bytes atomic.Int64
}

// ReadAt implements nodes.ReaderAt.
func (c *Counted) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(ctx, p, off)
	c.Reads.Add(1)
	c.Bytes.Add(int64(n))
	return n, err
}
