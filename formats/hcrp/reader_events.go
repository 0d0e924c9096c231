package hcrp

import (
	"context"
	"sync"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// eventFormat returns what is needed to decode bodies with that schema.
func (t *Tables) eventFormat(s *Schema) eventFormat { return eventFormat{t.Header.Layout, s, t.limits} }

// An eventReader decodes the chunks of a recording.
type eventReader struct {
	*Reader
	schema *Schema // nil: no events can be told apart
}

// decode decodes chunk i without remembering it. If the chunk is to blame for an error it is one of
// newDamage.
func (r eventReader) decode(ctx context.Context, i int) (*chunk, error) {
	p := newPass(r, allText)
	defer p.end()
	return p.decode(ctx, i)
}

// A pass decodes chunks one after the other in the same memory.
type pass struct {
	eventReader
	last *chunk
	held *formats.Held // for it

	floats jsonenc.Floats // of all chunks

	mode   textMode                                   // of the chunks
	expand func(context.Context, int) ([]byte, error) // gives the body of a chunk
}

func newPass(r eventReader, mode textMode) *pass {
	return &pass{eventReader: r, mode: mode, expand: r.Body}
}

// decode is decode of an eventReader. The chunk is good until the next one is decoded.
func (p *pass) decode(ctx context.Context, i int) (c *chunk, err error) {
	p.end()
	peak := p.peak(i)
	if p.last != nil && p.last.weight() > peak {
		p.last = nil // more than is charged
	}
	if p.held, err = formats.Charge(ctx, peak); err != nil {
		return nil, err
	}
	body, err := p.expand(ctx, i)
	if err != nil {
		return nil, err
	}
	p.last = p.eventFormat(p.schema).decodeIn(charged{p.held, peak, p.last, &p.floats}, p.mode, i, p.Entry(i), body)
	return p.last, p.last.short
}

// end gives back what is charged.
func (p *pass) end() { p.held.Free() }

// spareChunks are decoded chunks whose memory the next passes take, of at most spareWeight each, which is not counted:
// 1,024 events, for which room is made first, and half as many bytes of text.
var spareChunks sync.Pool

const spareWeight = 3 * 1024 * eventSize / 2

// beginPass returns a pass in memory that was used before, for chunks that leave decodes.
func beginPass(r eventReader, mode textMode) *pass {
	p := newPass(r, mode)
	p.last, _ = spareChunks.Get().(*chunk)
	return p
}

// leave ends a pass that beginPass returned, whose last chunk nobody needs any more.
func (p *pass) leave() {
	if p.last != nil && p.last.weight() <= spareWeight {
		clear(p.last.events[:cap(p.last.events)]) // of blocks and items that chunks before had
		clear(p.last.entries[:cap(p.last.entries)])
		spareChunks.Put(p.last)
	}
	p.end()
}

// enough fails if there is too little memory for the greatest chunk, so that a pass need not begin again at each that
// is greater than those before.
func (r eventReader) enough(ctx context.Context) error {
	held, err := formats.Charge(ctx, r.largest())
	held.Free()
	return err
}

// largest returns what it takes to expand and decode any of the chunks.
func (r *Reader) largest() int64 {
	most := int64(0)
	for i := range r.Chunks() {
		most = max(most, r.peak(i))
	}
	return most
}
