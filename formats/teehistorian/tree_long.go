package teehistorian

import (
	"context"
	"io"
	"math"

	"recfs/nodes"
)

// A longText is a text of the events of a chunk that is made as it is read.
type longText struct {
	next func(b []byte) ([]byte, error) // appends what follows, at the end io.EOF
	buf  []byte
	rest []byte // of buf
}

// Read implements io.Reader.
func (t *longText) Read(p []byte) (int, error) {
	for len(t.rest) == 0 {
		var err error
		if t.buf, err = t.next(t.buf[:0]); err != nil {
			return 0, stale(err)
		}
		t.rest = t.buf
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

// An inOrder is a reader as the source of a scanner, which reads on where it has stopped.
type inOrder struct{ io.Reader }

// ReadAt implements io.ReaderAt.
func (r inOrder) ReadAt(p []byte, _ int64) (int, error) { return io.ReadFull(r, p) }

// long returns a text of chunk k with that size. text returns what makes it of the records at c.
func (r *recording) long(k int, size int64, text func(c *cursor) func([]byte) ([]byte, error)) nodes.Content {
	c := &r.idx.chunks[k]
	open := func(in io.Reader) (io.Reader, error) {
		from, err := r.chunkStart(k)
		if err != nil {
			return nil, err
		}
		scan := newScanner(inOrder{in}, c.offset, c.offset+c.size, from.dec, chunkSize)
		return &longText{next: text(&cursor{scan: scan, state: from.state})}, nil
	}
	return nodes.NewForward(nodes.NewCursor(r.src, c.offset, c.size), open, size, c.held())
}

// longLines returns the lines of chunk k.
func (t *tree) longLines(ctx context.Context, k int) (nodes.Content, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	return r.long(k, r.idx.chunks[k].lines, func(c *cursor) func([]byte) ([]byte, error) {
		lines := jsonLines{render: &r.render}
		return func(b []byte) ([]byte, error) {
			switch more, err := c.next(math.MaxInt32); {
			case err != nil:
				return nil, err
			case more:
				return lines.append(b, &c.event), nil
			case lines.open:
				return lines.end(b), nil
			}
			return nil, io.EOF
		}
	}), nil
}

// longTick returns the document of a tick if it is a long one.
func (t *tree) longTick(ctx context.Context, n int64) (nodes.Content, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, err
	}
	k := x.chunkOf(int32(n))
	if c := &x.chunks[k]; !c.isLong() || int64(c.last) != n {
		return nil, nil
	}
	r, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	size, err := r.longTickSize(ctx, k)
	if err != nil {
		return nil, stale(err)
	}
	return r.long(k, size, func(c *cursor) func([]byte) ([]byte, error) {
		begun, first, ended := false, true, false
		return func(b []byte) ([]byte, error) {
			if !begun {
				begun = true
				err := c.skip(int32(n))
				return append(appendDocumentHead(b, int32(n)), eventsHead...), err
			}
			switch more, err := c.next(int32(n)); {
			case err != nil:
				return nil, err
			case more:
				return r.render.appendEvent(appendElement(b, &first), &c.event), nil
			case !ended:
				ended = true
				return append(b, documentTail...), nil
			}
			return nil, io.EOF
		}
	}), nil
}

// longTickSize returns the size of the document of the last tick of chunk k: what its line has
// beyond those before, and what is around and between the events in place of that in the line.
func (r *recording) longTickSize(ctx context.Context, k int) (int64, error) {
	c := &r.idx.chunks[k]
	before, err := r.lines(ctx, k, c.last-1)
	if err != nil {
		return 0, err
	}
	events := int64(0)
	err = r.each(ctx, k, c.last, 0, func(e *event) {
		if e.tick == c.last {
			events++
		}
	})
	line := len(appendTickHead(nil, c.last)) + len(tickTail)
	document := len(appendDocumentHead(nil, c.last)) + len(eventsHead) + len(documentTail)
	return c.lines - int64(len(before)-document+line) + events*int64(len(element)), err
}
