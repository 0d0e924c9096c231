package views

import (
	"context"
	"errors"
	"slices"

	"recfs/nodes/play"
)

// Events takes those that a Player passes.
type Events struct {
	*meter
	query *play.Query // nil: all, and of more than MaxEvents how many they are
	first int64       // of the ticks that are wanted
	rows  []play.Event
	more  int64
	full  bool // those of later ticks are not taken
}

// Wants reports whether an event of a kind at a tick is taken, before a Player makes it.
func (s *Events) Wants(tick int64, kind string) bool {
	switch {
	case s == nil || tick < s.first || s.full:
		return false
	case s.query != nil:
		return s.query.Kinds == nil || slices.Contains(s.query.Kinds, kind)
	case len(s.rows) >= play.MaxEvents:
		s.more++
		return false
	}
	return true
}

// Put takes an event that is wanted.
func (s *Events) Put(e play.Event) {
	if q := s.query; q != nil {
		text := e.Text
		if q.Told {
			text = e.Told().Text
		}
		if !play.HasWords(text, q.Words) || q.ID != "" && q.ID != e.ID && q.ID != e.To {
			return
		}
		n := len(s.rows)
		switch {
		case q.Back && n >= 2*(q.Limit+play.MaxEvents): // the last are wanted
			s.rows = s.rows[:copy(s.rows, s.rows[n/2:])]
		case q.Back || n < q.Limit:
		case s.rows[n-1].Tick != e.Tick:
			s.full = true
			return
		case n >= q.Limit+play.MaxEvents:
			return
		}
	}
	s.rows = append(s.rows, e)
	s.Use(eventCost + int64(len(e.Text)+len(e.Secret)))
}

// eventCost is about what one takes, without its text.
const eventCost = 256

// Events implements play.Recording. The events of one tick stay together, as far as they are no
// more than MaxEvents.
func (p *playing[T]) Events(ctx context.Context, q play.Query) (*play.Found, error) {
	x, err := p.index(ctx)
	if err != nil {
		return nil, err
	}
	m, err := newMeter(ctx)
	if err != nil {
		return nil, err
	}
	defer m.held.Free()
	found := &play.Found{Rows: []play.Event{}, Searched: q.From}
	chunk, way := p.chunkOf(x, q.From), 1
	if q.Back {
		way = -1
	} else {
		chunk = max(chunk, 0)
	}
	events := &Events{meter: &m, query: &q, first: q.From}
	for n := 0; n < play.MaxChunks && !events.full && 0 <= chunk && chunk < p.chunks(x); n++ {
		first, end := p.Chunk(x, chunk).First, p.end(x, chunk)
		if q.Back {
			events.first, end = first, min(end, q.From)
		}
		if err := p.search(ctx, x, chunk, end, events); err != nil {
			return nil, err
		}
		found.Searched = end
		if q.Back {
			found.Searched = first
			events.takeBack(found)
		}
		chunk += way
	}
	if !q.Back {
		found.Rows = append(found.Rows, events.rows...)
	}
	if n := len(found.Rows); events.full {
		found.Searched = found.Rows[n-1].Tick
	}
	if p.chunks(x) > 0 {
		next := found.Searched + int64(way)
		if p.Chunk(x, 0).First <= next && next <= p.last(x) {
			found.Next = &next
		}
	}
	return found, nil
}

// search plays a chunk for its events.
func (p *playing[T]) search(ctx context.Context, x *T, chunk int, end int64, events *Events) error {
	player, err := p.Open(ctx, x, chunk, nil)
	if err == nil {
		err = player.Play(ctx, end, events)
	}
	if err == nil || IsDamage(err) {
		err = ctx.Err()
	}
	return errors.Join(err, events.err)
}

// takeBack takes those of a chunk from the last on.
func (s *Events) takeBack(found *play.Found) {
	for _, e := range slices.Backward(s.rows) {
		n := len(found.Rows)
		if n >= s.query.Limit && found.Rows[n-1].Tick != e.Tick {
			s.full = true
			break
		}
		if n < s.query.Limit+play.MaxEvents {
			found.Rows = append(found.Rows, e)
		}
	}
	s.rows = s.rows[:0]
}
