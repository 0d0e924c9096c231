package hcrp

import (
	"context"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
)

// newRecording returns a recording whose memos load from r and what the index gives.
func newRecording(src formats.Input, r eventReader, c *cache.Cache) *recording {
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
	rec.indexes = rec.newIndexes(c)
	rec.states = cache.NewMemo(c, rec.loadState)
	rec.texts = cache.NewMemo(c, rec.loadText)
	return rec
}

func (rec *recording) loadText(ctx context.Context, name string) (b []byte, n int64, err error) {
	switch name {
	case metadataName:
		if b, err = rec.TypedMetadata(ctx); err == nil {
			b = document(b)
		}
	case markersName:
		b, err = rec.markersText(ctx)
	}
	return b, int64(cap(b)), err
}

// worthSaving is how many bytes of bodies a recording has whose index is worth a file on disk: to
// read one takes as long as to index so much.
const worthSaving = 64 << 10

// newIndexes returns the memo of the index, which is kept on disk.
func (rec *recording) newIndexes(c *cache.Cache) *cache.Memo[struct{}, *indexed] {
	m := cache.NewMemo(c, func(ctx context.Context, _ struct{}) (*indexed, int64, error) {
		return rec.show(makeIndex(ctx, rec.eventReader, rec.src.Stamp))
	})
	name := func(struct{}) string {
		if rec.bodyBytes() < worthSaving {
			return ""
		}
		return rec.src.IndexName(formatName, rec.variant())
	}
	return m.Durable(name,
		func(x *indexed) []byte { return x.index.encode(rec.byTick) },
		func(ctx context.Context, _ struct{}, saved []byte) (*indexed, int64, error) {
			return rec.show(resumeIndex(ctx, rec.eventReader, rec.src.Stamp, saved))
		})
}

// show makes what an index gives, and returns the bytes that both keep alive.
func (rec *recording) show(x *index, err error) (*indexed, int64, error) {
	if err != nil {
		return nil, 0, err
	}
	v := &indexed{
		index:  x,
		ticks:  tickSeries(x.ticks, rec.tickFile, nil),
		states: tickSeries(x.ticks, rec.stateFile, rec.hasState),
		tracks: rec.trackList(x),
	}
	if v.text, err = newIndexText(rec.eventReader, x); err != nil {
		return nil, 0, err
	}
	return v, x.weight() + v.text.weight(), nil
}

// openIndex opens index.json.
func (rec *recording) openIndex(ctx context.Context) (nodes.Content, error) {
	x, err := rec.index(ctx)
	if err != nil {
		return nil, err
	}
	return x.text.open(), nil
}
