package hcrp

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"recfs/formats/internal/wire"
)

// A packer writes the form in which an index lies on disk: LEB128 numbers,
// and bytes behind their length plus one, 0 standing for none.
type packer struct{ b []byte }

func (p *packer) uint(n uint64) { p.b = binary.AppendUvarint(p.b, n) }
func (p *packer) int(n int64)   { p.b = binary.AppendVarint(p.b, n) }

func (p *packer) bool(v bool) {
	if v {
		p.uint(1)
	} else {
		p.uint(0)
	}
}

func (p *packer) bytes(b []byte) {
	if b == nil {
		p.uint(0)
		return
	}
	p.uint(uint64(len(b)) + 1)
	p.b = append(p.b, b...)
}

func (p *packer) position(v *position) {
	for _, x := range v {
		p.b = binary.BigEndian.AppendUint64(p.b, math.Float64bits(x))
	}
}

// A reading reads it again. Failures stick to the Cursor.
type reading struct{ *wire.Cursor }

func unpacking(b []byte) reading { return reading{wire.NewCursor(formatName+" index", b, 0)} }

func (r reading) uint() uint64 { return r.Uvarint(10) }
func (r reading) int() int64   { return wire.Zigzag(r.uint()) }
func (r reading) bool() bool   { return r.uint() == 1 }

func (r reading) bytes() []byte {
	n := r.uint()
	if n == 0 || n > uint64(r.Len())+1 {
		if n > 0 {
			r.Fail("%d bytes, %d are left", n-1, r.Len())
		}
		return nil
	}
	return r.Bytes(int(n - 1))
}

// count reads how many elements follow, each of at least one byte.
func (r reading) count() int {
	n := r.uint()
	if n > uint64(r.Len()) {
		r.Fail("%d elements, %d bytes are left", n, r.Len())
		return 0
	}
	return int(n)
}

func (r reading) position() (v position) {
	for i := range v {
		v[i] = math.Float64frombits(r.U64BE())
	}
	return v
}

// texts returns the pieces of an entity that are text, in their packed order.
func (e *entity) texts() []*[]byte {
	return []*[]byte{&e.kind, &e.velocity, &e.pose, &e.flags, &e.using, &e.slot}
}

// pack returns everything that a replay knows.
func (p *replay) pack() []byte {
	var out packer
	out.bool(p.world != nil)
	if w := p.world; w != nil {
		out.uint(uint64(len(w.entities)))
		for _, id := range slices.Sorted(maps.Keys(w.entities)) {
			out.entity(id, w.entities[id])
		}
		out.uint(uint64(len(w.blocks)))
		for _, at := range slices.SortedFunc(maps.Keys(w.blocks), blockAt.compare) {
			out.int(at.x)
			out.int(at.y)
			out.int(at.z)
			out.bytes(w.blocks[at])
		}
	}
	out.uint(uint64(len(p.positions)))
	for _, id := range slices.Sorted(maps.Keys(p.positions)) {
		pos := p.positions[id]
		out.int(id)
		out.position(&pos)
	}
	return out.b
}

func (p *packer) entity(id int64, e *entity) {
	p.int(id)
	p.bool(e.placed)
	if e.placed {
		p.position(&e.pos)
	}
	for _, t := range e.texts() {
		p.bytes(*t)
	}
	p.uint(uint64(len(e.items)))
	for _, slot := range slices.Sorted(maps.Keys(e.items)) {
		p.int(slot)
		p.bytes(e.items[slot])
	}
}

// unpackReplay makes a replay of what pack returned.
func unpackReplay(l Layout, b []byte) (*replay, error) {
	r := unpacking(b)
	p := newReplay(l)
	if !r.bool() {
		p.world = nil
	} else {
		for range r.count() {
			id := r.int()
			p.world.entities[id] = r.entity()
		}
		for range r.count() {
			at := blockAt{r.int(), r.int(), r.int()}
			p.world.blocks[at] = r.bytes()
		}
	}
	for range r.count() {
		id := r.int()
		p.positions[id] = r.position()
	}
	return p, r.Err()
}

func (r reading) entity() *entity {
	e := &entity{placed: r.bool()}
	if e.placed {
		e.pos = r.position()
	}
	for _, t := range e.texts() {
		*t = slices.Clone(r.bytes())
	}
	if n := r.count(); n > 0 {
		e.items = make(map[int64][]byte, n)
		for range n {
			slot := r.int()
			e.items[slot] = r.bytes()
		}
	}
	return e
}
