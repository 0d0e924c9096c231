package views

import (
	"context"
	"io"
	"sync/atomic"

	"recfs/nodes"
)

// A listed is the file of a text that is listed with many like it.
type listed[T any] struct {
	*Tree[T]
	key  textKey
	i, n int
	open func(context.Context) (*Text, error)
}

// TextOf returns the file of text i of the n of a view. The sizes of those that were made are kept
// on disk together. The parts of the text can be made apart.
func (t *Tree[T]) TextOf(view string, i, n int, open func(context.Context) (*Text, error)) nodes.File {
	return &listed[T]{t, textKey{view, i}, i, n, open}
}

// known returns the sizes of the texts of the view.
func (f *listed[T]) known(ctx context.Context) (*lengths, error) {
	l, err := f.lengths.Get(ctx, f.key.view, func(context.Context) (*lengths, error) { return &lengths{list: make([]int64, f.n)}, nil })
	if err == nil {
		l.fit(f.n)
	}
	return l, err
}

// IsMeasured implements nodes.Measured.
func (f *listed[T]) IsMeasured(ctx context.Context) bool {
	known, err := f.known(ctx)
	return err == nil && known.get(f.i) > 0
}

// Size implements nodes.File.
func (f *listed[T]) Size(ctx context.Context) (int64, error) {
	known, err := f.known(ctx)
	if err != nil {
		return 0, err
	}
	if n := known.get(f.i); n > 0 {
		return n, nil
	}
	p, err := f.openText(ctx, f.key, f.open)
	if err != nil {
		return 0, err
	}
	for save := known.set(f.i, p.Size()); save; save = known.again() {
		f.lengths.save(ctx, f.key.view, known)
	}
	return p.Size(), nil
}

// Open implements nodes.File.
func (f *listed[T]) Open(ctx context.Context) (nodes.Content, error) {
	size, err := f.Size(ctx)
	return &listedContent[T]{listed: f, size: size}, err
}

// beginning is how many parts of a listed text are made one by one for a read near its beginning,
// such as that of a header, which programs read of every file that they list.
const beginning = 16

// A listedContent is the content of a listed text.
type listedContent[T any] struct {
	*listed[T]
	size int64
	all  atomic.Pointer[nodes.Pieces]
}

// Size implements nodes.Content.
func (c *listedContent[T]) Size() int64 { return c.size }

// ReadAt implements nodes.ReaderAt.
func (c *listedContent[T]) ReadAt(ctx context.Context, b []byte, off int64) (int, error) {
	if off >= c.size {
		return 0, io.EOF
	}
	p, err := c.reach(ctx, min(off+int64(len(b)), c.size))
	if err != nil {
		return 0, err
	}
	return p.ReadAt(ctx, b, off)
}

// reach returns all parts, or at least those before end, which is in the file.
func (c *listedContent[T]) reach(ctx context.Context, end int64) (*nodes.Pieces, error) {
	if p := c.all.Load(); p != nil {
		return p, nil
	}
	if _, ok := c.layouts.Peek(c.key); !ok {
		text, err := c.open(ctx)
		if err != nil {
			return nil, err
		}
		l := &layout{text: text}
		p := c.pieces(c.key, l)
		for i := 0; i < min(beginning, text.N) && p.Size() < end; i++ {
			b, err := c.part(ctx, c.key, l, i)
			if err != nil {
				return nil, err
			}
			p.Add(int64(len(b)))
		}
		if end <= p.Size() && p.Size() <= c.size {
			return p, nil
		}
	}
	p, err := c.openText(ctx, c.key, c.open)
	if err != nil {
		return nil, err
	}
	if p.Size() != c.size {
		return nil, nodes.SizeError(c.size, p.Size())
	}
	c.all.Store(p)
	return p, nil
}
