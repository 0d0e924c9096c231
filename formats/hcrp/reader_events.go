package hcrp

import (
	"context"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// eventFormat returns what decoding bodies with a schema needs.
func (t *Tables) eventFormat(s *Schema) eventFormat { return eventFormat{t.Header.Layout, s, t.limits} }

// decode decodes chunk i without remembering it. If the chunk is at fault, newDamage made the
// error.
func (r *Reader) decode(ctx context.Context, i int) (*chunk, error) {
	p := newPass(r, false)
	defer p.end()
	return p.decode(ctx, i)
}

// A pass decodes chunks one after the other in the same memory.
type pass struct {
	*Reader
	kept  []keptChunk // the last one first
	spare *chunk      // whose memory the next one takes

	floats jsonenc.Floats // of all chunks

	quiet   bool                                       // no text is needed
	expand  func(context.Context, int) ([]byte, error) // gives the body of a chunk
	decoded int64                                      // bytes that the chunks so far took
}

// A keptChunk is a chunk that a pass has decoded.
type keptChunk struct {
	number int
	*chunk
	held *formats.Held // for it
}

// Overlapping chunks may take turns at each tick. So a pass keeps the last of them, up to a number
// and a weight in bytes.
const (
	maxKept       = 8
	maxKeptWeight = 16 << 20
)

func newPass(r *Reader, quiet bool) *pass {
	return &pass{Reader: r, quiet: quiet, expand: r.Body}
}

// decode is the decode of a Reader, but the chunk is valid only until the next one is decoded.
func (p *pass) decode(ctx context.Context, i int) (*chunk, error) {
	if k := slices.IndexFunc(p.kept, func(c keptChunk) bool { return c.number == i }); k >= 0 {
		found := p.kept[k]
		copy(p.kept[1:], p.kept[:k])
		p.kept[0] = found
		return found.chunk, nil
	}
	e := p.Entry(i)
	p.forget(func(o Entry) bool { return o.Start <= e.Last() && e.Start <= o.Last() })
	peak := p.peak(i)
	if p.spare != nil && p.spare.weight() > peak {
		p.spare = nil // more than is charged
	}
	held, err := formats.Charge(ctx, peak)
	if err != nil {
		return nil, err
	}
	body, err := p.expand(ctx, i)
	if err != nil {
		held.Free()
		return nil, err
	}
	c := p.eventFormat(p.schema).decodeIn(account{held, peak, p.spare, &p.floats}, p.quiet, i, e, body)
	if c.short != nil {
		held.Free()
		return nil, c.short
	}
	p.spare, p.decoded = nil, p.decoded+c.weight()
	p.kept = slices.Insert(p.kept, 0, keptChunk{i, c, held})
	return c, nil
}

// forget forgets all chunks except those that keep selects, as long as they are few.
func (p *pass) forget(keep func(Entry) bool) {
	n, weight := 0, int64(0)
	p.kept = slices.DeleteFunc(p.kept, func(c keptChunk) bool {
		n, weight = n+1, weight+c.weight()
		if n < maxKept && weight <= maxKeptWeight && keep(c.entry) {
			return false
		}
		c.held.Free()
		p.spare = c.chunk
		return true
	})
}

// end forgets all chunks.
func (p *pass) end() { p.forget(func(Entry) bool { return false }) }

// largest returns what it takes to expand and decode any of the chunks.
func (r *Reader) largest() int64 {
	most := int64(0)
	for i := range r.Chunks() {
		most = max(most, r.peak(i))
	}
	return most
}
