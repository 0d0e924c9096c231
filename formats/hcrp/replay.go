package hcrp

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sort"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/jsonenc"
)

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

// A playback plays the ranges of an index.
type playback struct {
	layout Layout
	index  *index
	places bool // only positions are known, and no world
	decode func(context.Context, int) (*chunk, error)
}

// before returns a replay as it is before a tick range.
func (t *playback) before(ctx context.Context, number int) (*replay, error) {
	k := t.index.stretch(number)
	p, err := t.start(k)
	for i := t.index.first(k); err == nil && i < number; i++ {
		err = t.play(ctx, p, i, t.index.ranges[i].Last, nil)
	}
	return p, err
}

// start returns a replay as it is before a stretch.
func (t *playback) start(k int) (*replay, error) {
	p := newReplay(t.layout)
	if k >= 0 && p.decode(t.index.checkpoints[k].Replay) != nil {
		return nil, formats.ErrOther
	}
	if t.places {
		p.places, p.world = true, nil
	}
	return p, nil
}

// play plays a tick range up to a tick. w may be nil.
func (t *playback) play(ctx context.Context, p *replay, number int, through int64, w observer) error {
	s := &t.index.ranges[number]
	if s.Cut {
		return nil
	}
	c, err := t.chunkOf(ctx, s)
	if err == nil {
		p.play(s, c, through, w)
	}
	return err
}

// chunkOf returns the chunk of a range.
func (t *playback) chunkOf(ctx context.Context, r *tickRange) (*chunk, error) {
	if r.Hole {
		return &chunk{}, nil
	}
	return t.decode(ctx, int(r.Chunk))
}

// walk plays the tick ranges from begin up to end, as long as more, unless it is nil, returns true.
// watch makes the observer of the replay.
func (t *playback) walk(ctx context.Context, begin, end int, watch func(*replay) observer, more func() bool) error {
	p, err := t.before(ctx, begin)
	w := watch(p)
	for i := begin; err == nil && i < end && (more == nil || more()); i++ {
		err = t.play(ctx, p, i, t.index.ranges[i].Last, w)
	}
	return err
}

// state returns the world after tick n as compact JSON, or errUnknownTick.
func (t *playback) state(ctx context.Context, n int64) ([]byte, error) {
	list := t.index.ranges
	i := t.index.rangeOf(n)
	if i < 0 || list[i].Cut {
		return nil, errUnknownTick
	}
	p, err := t.before(ctx, i)
	if err == nil {
		err = t.play(ctx, p, i, n, nil)
	}
	if err != nil {
		return nil, err
	}
	if p.world == nil {
		return nil, errUnknownTick
	}
	return p.world.appendState(appendStateHead(nil, n, list[i].Chunk)), nil
}

// appendStateHead appends the members of a state in front of those of the world.
func appendStateHead(dst []byte, n int64, chunk int32) []byte {
	dst = append(appendMoment(dst, n), `,"chunk":`...)
	return append(jsonenc.AppendInt(dst, chunk), ',')
}

// A checkpoint is the replay before a tick range. It stays encoded, as most are never played from.
type checkpoint struct {
	Range  int
	Replay []byte
}

// The tick ranges from a checkpoint up to the next are a stretch. It has the number of the
// checkpoint. The ranges before the first checkpoint are stretch -1.

// stretch returns the stretch that a tick range is in.
func (x *index) stretch(number int) int {
	return sort.Search(len(x.checkpoints), func(k int) bool { return x.checkpoints[k].Range > number }) - 1
}

// first returns the first tick range of a stretch, or of what follows the last one.
func (x *index) first(stretch int) int {
	switch {
	case stretch < 0:
		return 0
	case stretch == len(x.checkpoints):
		return len(x.ranges)
	}
	return x.checkpoints[stretch].Range
}

// rangeOf returns the tick range that tick n is in, -1 if it is in none.
func (x *index) rangeOf(n int64) int {
	i := sort.Search(len(x.ranges), func(i int) bool { return x.ranges[i].Last >= n })
	if i == len(x.ranges) || x.ranges[i].First > n {
		return -1
	}
	return i
}

// encode returns all that a replay knows.
func (p *replay) encode() []byte { return indexfile.Append(nil, p.code) }

// decode reads what encode returned into a new replay.
func (p *replay) decode(b []byte) error { return indexfile.Read(formatName, b, p.code) }

// code writes or reads a replay: the world, if it is known, and the positions.
//
//	| u8 known | n | n × (id, entity) | n | n × (x, y, z, state) | n | n × (id, position) |
func (p *replay) code(c indexfile.Codec) {
	known := p.world != nil
	if c.Values(&known); known {
		p.world.code(c)
	} else {
		p.world = nil
	}
	codeMap(c, &p.positions, 1, cmp.Compare[int64], func(id *int64, at *position) {
		c.Int(id)
		at.code(c)
	})
}

func (w *world) code(c indexfile.Codec) {
	codeMap(c, &w.entities, 1, cmp.Compare[int64], func(id *int64, e **entity) {
		if c.Int(id); c.R != nil {
			*e = &entity{}
		}
		(*e).code(c)
	})
	codeMap(c, &w.blocks, 4, blockAt.compare, func(at *blockAt, state *[]byte) {
		c.Int(&at.x)
		c.Int(&at.y)
		c.Int(&at.z)
		if c.Values(state); c.R != nil {
			w.setBlock(*at, *state)
			*state = w.blocks[*at]
		}
	})
}

// code writes or reads an entity. An empty text is one that is not known: no JSON value is empty.
//
//	| u8 placed | position, if placed | 6 texts | n | n × (slot, item) |
func (e *entity) code(c indexfile.Codec) {
	if c.Values(&e.placed); e.placed {
		e.pos.code(c)
	}
	for i := range e.texts {
		c.Blob(&e.texts[i])
	}
	codeMap(c, &e.items, 2, cmp.Compare[int64], func(slot *int64, item *[]byte) {
		c.Int(slot)
		c.Blob(item)
	})
}

func (p *position) code(c indexfile.Codec) {
	for i := range p {
		c.Values(&p[i])
	}
}

// codeMap writes or reads a map in the order of its keys. Each entry takes at least size bytes.
func codeMap[K comparable, V any](c indexfile.Codec, m *map[K]V, size int, compare func(a, b K) int, each func(*K, *V)) {
	keys := slices.SortedFunc(maps.Keys(*m), compare)
	if c.R != nil && *m == nil {
		*m = map[K]V{}
	}
	indexfile.List(c, &keys, size, func(k *K) {
		v := (*m)[*k]
		if each(k, &v); c.R != nil {
			(*m)[*k] = v
		}
	})
}
