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
func (r *recording) longLines(k int) nodes.Content {
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
	})
}

// longTick returns the document of the last tick of chunk k.
func (t *tree) longTick(ctx context.Context, r *recording, k int) (nodes.Content, error) {
	sizes, err := t.docs.Get(ctx, docsKey{k, false})
	if err != nil {
		return nil, err
	}
	tick := r.idx.chunks[k].last
	return r.long(k, sizes[len(sizes)-1], func(c *cursor) func([]byte) ([]byte, error) {
		begun, first, ended := false, true, false
		return func(b []byte) ([]byte, error) {
			if !begun {
				begun = true
				err := c.skip(tick)
				return append(appendDocumentHead(b, tick), eventsHead...), err
			}
			switch more, err := c.next(tick); {
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
