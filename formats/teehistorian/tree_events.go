package teehistorian

import (
	"context"

	"recfs/nodes"
)

// logSize returns the size of the part of events.txt in chunk k.
func (t *tree) logSize(ctx context.Context, r *recording, k int) (int64, error) {
	size, known, err := r.logSize(k)
	if known || err != nil {
		return size, err
	}
	b, err := t.logs.Get(ctx, k)
	return int64(len(b)), err
}

// openEvents opens export/events.txt.
func (t *tree) openEvents(ctx context.Context) (nodes.Content, error) {
	sizes, err := t.sizes.Get(ctx, struct{}{})
	if err != nil {
		return nil, err
	}
	p := nodes.NewPieces(t.logs.Get)
	for _, size := range sizes {
		p.Add(size)
	}
	return p, nil
}
