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

// eventsFile is export/events.txt.
type eventsFile struct{ t *tree }

func (f eventsFile) Size(ctx context.Context) (int64, error) {
	c, err := f.Open(ctx)
	if err != nil {
		return 0, err
	}
	return c.Size(), nil
}

func (f eventsFile) Open(ctx context.Context) (nodes.Content, error) {
	r, err := f.t.get(ctx)
	if err != nil {
		return nil, err
	}
	p := &parts{load: func(ctx context.Context, i int) ([]byte, error) { return f.t.logs.Get(ctx, i) }}
	for k := range r.idx.chunks {
		size, err := f.t.logSize(ctx, r.recording, k)
		if err != nil {
			return nil, err
		}
		p.add(size)
	}
	return p, nil
}
