package hcrp

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"recfs/formats/internal/indexfile"
)

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
