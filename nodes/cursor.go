package nodes

import (
	"context"
	"io"
)

// A Cursor reads a section in order, for a decoder that lives longer than one operation: every
// operation binds its own context before it reads.
type Cursor struct {
	// Err is the first error of a read, io.EOF apart: it tells a source that cannot be read from
	// bytes that make no sense.
	Err error

	r        ReaderAt
	off, end int64
	bound    io.ReaderAt // r in the context of the operation; nil: there is none
}

// NewCursor returns a Cursor at the first of n bytes of r from off on.
func NewCursor(r ReaderAt, off, n int64) *Cursor { return &Cursor{r: r, off: off, end: off + n} }

// Bind makes ctx that of the reads until release is called.
func (c *Cursor) Bind(ctx context.Context) (release func()) {
	c.bound = At(ctx, c.r)
	return func() { c.bound = nil }
}

// Offset returns where the next read begins.
func (c *Cursor) Offset() int64 { return c.off }

// Reset goes back to an offset.
func (c *Cursor) Reset(off int64) { c.off, c.Err = off, nil }

// Read implements io.Reader for the operation that has bound its context.
func (c *Cursor) Read(p []byte) (int, error) {
	if c.off >= c.end {
		return 0, io.EOF
	}
	n, err := c.bound.ReadAt(p[:min(int64(len(p)), c.end-c.off)], c.off)
	c.off += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	if err != nil && err != io.EOF && c.Err == nil {
		c.Err = err
	}
	return n, err
}
