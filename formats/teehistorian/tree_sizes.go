package teehistorian

import (
	"cmp"
	"context"
	"unsafe"

	"recfs/nodes"
)

// What a chunk holds for each stay is kept encoded in the index. What follows
// from it for the sizes of files is remembered, so that it is decoded once and
// not at every look at one of them.

// loadActivity returns what chunk k holds for each stay, in the order of byStay.
func (t *tree) loadActivity(ctx context.Context, k int) ([]activity, int64, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	list, err := readChunkActivity(r.idx.chunks[k].activity)
	return list, int64(cap(list)) * int64(unsafe.Sizeof(activity{})), err
}

func byStay(a activity, stay int32) int { return cmp.Compare(a.stay, stay) }

// loadLogSizes returns the sizes of the parts of events.txt, one for each chunk.
func (t *tree) loadLogSizes(ctx context.Context, _ struct{}) ([]int64, int64, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	sizes := make([]int64, len(r.idx.chunks))
	for k := range sizes {
		if sizes[k], err = t.logSize(ctx, r.recording, k); err != nil {
			return nil, 0, err
		}
	}
	return sizes, int64(8 * cap(sizes)), nil
}

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

// loadLog returns the part of events.txt in chunk k.
func (t *tree) loadLog(ctx context.Context, k int) ([]byte, int64, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	b, err := r.log(ctx, k)
	return b, int64(cap(b)), stale(err)
}
