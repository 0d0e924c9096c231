package teehistorian

import (
	"context"
	"math"

	"recfs/formats/views"
)

// longPart is how many bytes of records a part of a long text is made of.
const longPart = 2 * chunkSize

// A longPlace is where a part of a long text begins.
type longPlace struct {
	*point
	lines jsonLines
	first bool // no event of the document comes before
}

// long returns the lines of a chunk, or with a tick its document, as a text of many parts.
func (t *tree) long(k int, tick *int32) func(context.Context, *index) (*views.Text, error) {
	return func(_ context.Context, x *index) (*views.Text, error) {
		c := &x.chunks[k]
		n := int((c.size + longPart - 1) / longPart)
		return &views.Text{
			N: n, Cost: int64(n * (stateSize + c.weight*playerSize)), Claim: c.held(),
			Make: func(ctx context.Context, i int, at any) (views.Part, error) {
				r, err := t.get(ctx)
				if err != nil {
					return views.Part{}, err
				}
				p := longPlace{lines: jsonLines{render: &r.render}, first: true}
				if at != nil {
					p = at.(longPlace)
				} else if p.point, err = r.chunkStart(k); err != nil {
					return views.Part{}, err
				}
				b, err := r.longPart(ctx, &p, k, i, tick)
				return views.Part{Bytes: b, Next: p}, stale(err)
			},
		}, nil
	}
}

// longPart makes part i of a long text, which begins at p, and sets p to its end.
func (r *recording) longPart(ctx context.Context, p *longPlace, k, i int, tick *int32) (b []byte, err error) {
	chunk, last := &r.idx.chunks[k], int32(math.MaxInt32)
	if tick != nil {
		last = *tick
		if i == 0 {
			b = append(appendDocumentHead(b, last), eventsHead...)
		}
	}
	end := min(chunk.offset+int64(i+1)*longPart, chunk.offset+chunk.size)
	c := r.cursor(ctx, p.point, k, chunkSize)
	for more := true; more && c.scan.position() < end; {
		if more, err = c.next(last); err != nil {
			return nil, err
		}
		switch {
		case !more:
		case tick == nil:
			b = p.lines.append(b, &c.event)
		case c.event.tick == last:
			b = r.render.appendEvent(appendElement(b, &p.first), &c.event)
		}
	}
	p.point = c.point()
	switch {
	case end < chunk.offset+chunk.size:
		return b, nil
	case tick == nil:
		return p.lines.end(b), nil
	}
	return append(b, documentTail...), nil
}
