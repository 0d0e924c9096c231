package hcrp

import (
	"maps"
	"slices"
	"sort"

	"recfs/formats/internal/indexfile"
)

// A checkpoint is the replay before a tick range, encoded: most of them are never played from.
type checkpoint struct {
	Range  int
	Replay []byte
}

// The tick ranges from one checkpoint up to the next are a stretch, which has the number of the
// checkpoint. Those before the first one are stretch -1.

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

// A writer writes what an index is made of (package indexfile), a reading reads it.
type (
	writer  struct{ *indexfile.Writer }
	reading struct{ *indexfile.Reader }
)

// encode returns everything that a replay knows: the world, if it is known, and the positions.
//
//	| u8 known | n | n × (id, entity) | n | n × (x, y, z, state) | n | n × (id, position) |
func (p *replay) encode() []byte {
	w := writer{&indexfile.Writer{}}
	w.Bool(p.world != nil)
	if p.world != nil {
		w.Count(len(p.world.entities))
		for _, id := range slices.Sorted(maps.Keys(p.world.entities)) {
			w.Int(id)
			w.entity(p.world.entities[id])
		}
		w.Count(len(p.world.blocks))
		for _, at := range slices.SortedFunc(maps.Keys(p.world.blocks), blockAt.compare) {
			w.Int(at.x)
			w.Int(at.y)
			w.Int(at.z)
			w.Blob(p.world.blocks[at])
		}
	}
	w.Count(len(p.positions))
	for _, id := range slices.Sorted(maps.Keys(p.positions)) {
		w.Int(id)
		w.position(p.positions[id])
	}
	return w.Bytes()
}

// decode reads what encode returned into a replay without anything.
func (p *replay) decode(b []byte) error {
	r := reading{indexfile.NewReader(formatName, b)}
	if r.Bool() {
		for range r.Count(1) {
			id := r.Int()
			p.world.entities[id] = r.entity()
		}
		for range r.Count(4) { // three numbers and a text
			p.world.setBlock(blockAt{r.Int(), r.Int(), r.Int()}, r.Bytes(r.Count(1)))
		}
	} else {
		p.world = nil
	}
	for range r.Count(1) {
		id := r.Int()
		p.positions[id] = r.position()
	}
	return r.Close()
}

// entity writes an entity. An empty text is one that is not known: no JSON value is empty.
//
//	| u8 placed | position, if placed | 6 texts | n | n × (slot, item) |
func (w writer) entity(e *entity) {
	w.Bool(e.placed)
	if e.placed {
		w.position(e.pos)
	}
	for _, text := range e.texts {
		w.Blob(text)
	}
	w.Count(len(e.items))
	for _, slot := range slices.Sorted(maps.Keys(e.items)) {
		w.Int(slot)
		w.Blob(e.items[slot])
	}
}

func (r reading) entity() *entity {
	e := &entity{}
	if e.placed = r.Bool(); e.placed {
		e.pos = r.position()
	}
	for i := range e.texts {
		e.texts[i] = r.Blob()
	}
	if n := r.Count(2); n > 0 {
		e.items = make(map[int64][]byte, n)
		for range n {
			slot := r.Int()
			e.items[slot] = r.Blob()
		}
	}
	return e
}

func (w writer) position(v position) {
	for _, x := range v {
		w.F64(x)
	}
}

func (r reading) position() (v position) {
	for i := range v {
		v[i] = r.F64()
	}
	return v
}
