package teehistorian

import (
	"cmp"
	"context"
	"unsafe"
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
	list, err := readChunkActivity(nil, r.idx.chunks[k].activity)
	return list, int64(cap(list)) * int64(unsafe.Sizeof(activity{})), err
}

func byStay(a activity, stay int32) int { return cmp.Compare(a.stay, stay) }

// docSize returns the size of what doc returns. For a single one that is made. When more of a chunk is asked for, as
// ls -l does, the sizes of all in it are counted at once.
func (t *tree) docSize(ctx context.Context, r *recording, n int32, states bool) (int64, error) {
	k, i := r.idx.findTick(n)
	size := r.idx.blockLen(k)
	b, ok := t.blocks.Peek(blockKey{k, i / size, states})
	if ok {
		return int64(len(b.doc(i % size))), nil
	}
	// An error is that of a tick that cannot be made, and perhaps not of this one.
	if sizes, ok := t.docs.Again(ctx, docsKey{k, states}); ok {
		return sizes[i], nil
	}
	doc, err := t.doc(ctx, r, n, states)
	return int64(len(doc)), err
}

func (t *tree) loadDocSizes(ctx context.Context, k docsKey) ([]int64, int64, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	sizes, err := r.docSizes(ctx, k.chunk, k.states)
	return sizes, int64(8 * cap(sizes)), stale(err)
}
