package hcrp

import (
	"context"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
)

// newRecording returns a recording that opened.
func newRecording(src formats.Recording, c *cache.Cache) *recording {
	r := src.Head.(*head).reader(src.Input)
	rec := &recording{eventReader: r, src: src}
	rec.bodies = cache.NewMemo(c, func(ctx context.Context, i int) ([]byte, int64, error) {
		b, err := r.Body(ctx, i)
		return b, int64(cap(b)), err
	}).Peak(r.bodyPeak)
	rec.chunks = cache.NewMemo(c, func(ctx context.Context, i int) (*chunk, int64, error) {
		ch, err := r.decode(ctx, i)
		if err != nil {
			return nil, 0, err
		}
		return ch, ch.weight(), nil
	})
	rec.indexes = cache.NewMemo(c, rec.loadIndexed)
	rec.states = cache.NewMemo(c, rec.loadState)
	rec.sizes = cache.NewMemo(c, rec.loadSizes)
	rec.metadata = cache.NewMemo(c, rec.loadMetadata)
	rec.indexText = cache.NewMemo(c, rec.loadIndexText)
	return rec
}

func (rec *recording) loadMetadata(ctx context.Context, _ struct{}) ([]byte, int64, error) {
	held, err := rec.chargeText(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer held.Free()
	b, err := rec.TypedMetadata()
	if err != nil {
		return nil, 0, err
	}
	b = document(b)
	return b, int64(cap(b)), nil
}

// loadIndexed makes what an index gives. The index counts once more here, as it is kept alive.
func (rec *recording) loadIndexed(ctx context.Context, _ struct{}) (*indexed, int64, error) {
	found, err := rec.src.Index(ctx)
	if err != nil {
		return nil, 0, err
	}
	x := found.(*index)
	v := &indexed{
		index:  x,
		groups: newGroups(x, func(i int) int64 { return rec.Entry(i).Size }),
		ticks:  tickSeries(x.ticks, rec.tickFile, nil),
		states: tickSeries(x.ticks, rec.stateFile, rec.hasState),
		tracks: rec.trackList(x),
	}
	return v, x.Memory() + int64(4*cap(v.groups)), nil
}

func (rec *recording) loadIndexText(ctx context.Context, _ struct{}) (*indexText, int64, error) {
	x, err := rec.index(ctx)
	if err != nil {
		return nil, 0, err
	}
	damage, err := rec.src.Damage(ctx)
	if err != nil {
		return nil, 0, err
	}
	t, err := newIndexText(rec.eventReader, x.index, damage)
	if err != nil {
		return nil, 0, err
	}
	return t, t.weight(), nil
}

// openIndex opens index.json.
func (rec *recording) openIndex(ctx context.Context) (nodes.Content, error) {
	t, err := rec.indexText.Get(ctx, struct{}{})
	if err != nil {
		return nil, err
	}
	return t.open(), nil
}
