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
	list, err := readChunkActivity(nil, r.idx.chunks[k].activity)
	return list, int64(cap(list)) * int64(unsafe.Sizeof(activity{})), err
}

func byStay(a activity, stay int32) int { return cmp.Compare(a.stay, stay) }

// loadLogSizes returns the sizes of the parts of events.txt, one for each group of its lines up to the one that is
// held back.
func (t *tree) loadLogSizes(ctx context.Context, _ struct{}) ([]int64, int64, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	sizes := make([]int64, 0, len(r.idx.lines))
	for g, whole := 0, true; g < len(r.idx.lines) && whole; g++ {
		var b []byte
		if b, whole, err = r.log(ctx, g); err != nil {
			return nil, 0, err
		}
		sizes = append(sizes, int64(len(b)))
	}
	return sizes, int64(8 * cap(sizes)), nil
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

// loadLog returns the part of events.txt in group g.
func (t *tree) loadLog(ctx context.Context, g int) ([]byte, int64, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	b, _, err := r.log(ctx, g)
	return b, int64(cap(b)), err
}

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
	if sizes, ok := t.docs.Again(ctx, docsKey{k, states}); ok && sizes[i] > 0 {
		return int64(sizes[i]), nil
	}
	doc, err := t.doc(ctx, r, n, states)
	return int64(len(doc)), err
}

func (t *tree) loadDocSizes(ctx context.Context, k docsKey) ([]uint32, int64, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	sizes, err := r.docSizes(ctx, k.chunk, k.states)
	return sizes, int64(4 * cap(sizes)), stale(err)
}
