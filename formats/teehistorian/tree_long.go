package teehistorian

import (
	"context"

	"recfs/formats/views"
)

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
