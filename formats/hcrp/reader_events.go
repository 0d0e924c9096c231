package hcrp

import (
	"context"

	"recfs/formats"
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
	p := pass{eventReader: r}
	defer p.end()
	return p.decode(ctx, i)
}

// A pass decodes chunks one after the other in the same memory.
type pass struct {
	eventReader
	last *chunk
	held *formats.Held // for it

	world bool // the worlds are all that is wanted of the chunks
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
	body, err := p.Body(ctx, i)
	if err != nil {
		return nil, err
	}
	decode := eventFormat.decodeIn
	if p.world {
		decode = eventFormat.decodeWorld
	}
	p.last = decode(p.eventFormat(p.schema), charged{p.held, peak, p.last}, i, p.Entry(i), body)
	return p.last, p.last.short
}

// end gives back what is charged.
func (p *pass) end() { p.held.Free() }

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
