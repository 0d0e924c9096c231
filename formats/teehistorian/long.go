package teehistorian

import (
	"context"
	"math"
)

// longPart is how many bytes of records a part of a long text is made of.
const longPart = 2 * chunkSize

// A longPlace is where a part of a long text begins.
type longPlace struct {
	*point
	lines jsonLines
	first bool // no event of the document comes before
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
