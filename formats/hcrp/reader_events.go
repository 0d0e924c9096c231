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
	held, err := formats.Charge(ctx, r.peak(i))
	if err != nil {
		return nil, err
	}
	defer held.Free()
	body, err := r.Body(ctx, i)
	if err != nil {
		return nil, err
	}
	c := r.eventFormat(r.schema).decodeIn(charged{held, r.peak(i)}, i, r.Entry(i), body)
	return c, c.short
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
