package hcrp

import "recfs/formats/internal/jsonenc"

// A tickRange is a run of ticks of one chunk that are known in full, a hole after such ticks in
// which nothing happened, or a tick that is known in part.
type tickRange struct {
	First, Last int64
	Ghost       int64 // bytes of the rows of export/ghost.csv
	Markers     int64 // bytes of the lines of markers.json
	Chunk       int32
	Hole        bool
	Lost        bool // ticks before it are unknown
	Cut         bool // the tick in which decoding stopped, which is never played
}

// A replay applies tick ranges in order and knows the world after each tick.
type replay struct {
	layout Layout
	world  *world          // nil: unknown
	places bool            // there is never a world
	floats *jsonenc.Floats // of the chunks, nil: none are remembered

	// positions of entities, for tracks. A snapshot forgets none of them.
	positions map[int64]position
}

func newReplay(l Layout) *replay {
	return &replay{layout: l, world: newWorld(), positions: map[int64]position{}}
}

// enter begins a tick range in the chunk c.
func (p *replay) enter(s *tickRange, c *chunk) {
	if s.Lost {
		p.world = nil
		clear(p.positions)
	}
	switch {
	case s.Hole, s.First != c.entry.Start, !c.entry.Snapshot():
		return
	case c.lost:
		p.world = nil
		return
	}
	for i := range c.entries {
		p.follow(&c.entries[i])
	}
	if p.places {
		return
	}
	if p.world == nil {
		p.world = newWorld()
	}
	p.world.begin(c, p.layout)
}

// apply applies one event. It reports whether the event gave an entity a position.
func (p *replay) apply(c *chunk, e *event) bool {
	if p.world != nil {
		p.world.apply(c, e)
	}
	return p.follow(e)
}

// follow keeps the positions.
func (p *replay) follow(e *event) bool {
	if e.def == nil || !e.hasAll(captureEntity) {
		return false
	}
	switch e.def.Role {
	case roleSpawn, rolePlace:
		if !e.hasAll(captureX) {
			return false
		}
		p.positions[e.entity] = e.pos
	case roleMove:
		pos, ok := p.positions[e.entity]
		if !ok {
			return false
		}
		pos.move(e)
		p.positions[e.entity] = pos
	case roleRemove:
		delete(p.positions, e.entity)
		return false
	default:
		return false
	}
	return true
}

// An observer sees a tick range being played.
type observer interface {
	// begin is called before the tick range is played, with its chunk.
	begin(s *tickRange, c *chunk)

	// event is called after each event. placed says whether the event gave an entity a position.
	event(t *tick, k int, placed bool)

	// tick is called at the start of the tick range, after the events of each tick, and with the
	// number after the last tick. The replay does not change until the next call.
	tick(n int64)
}

// play applies the ticks of a tick range up to and including the given one. w may be nil.
func (p *replay) play(s *tickRange, c *chunk, through int64, w observer) {
	p.enter(s, c)
	if w != nil {
		w.begin(s, c)
		w.tick(s.First)
		defer func() { w.tick(min(s.Last, through) + 1) }()
	}
	if s.Hole {
		return
	}
	for t := range c.between(s.First, min(s.Last, through)) {
		for k := t.first; k < t.last; k++ {
			placed := p.apply(c, &c.events[k])
			if w != nil {
				w.event(t, k, placed)
			}
		}
		if w != nil {
			w.tick(t.n)
		}
	}
}
