package demo

import "slices"

// Types of items (docs/formats/demo.md section 5). Types from 16384 on are free to choose: an item
// of type 0 tells by a UUID what they stand for.
const (
	typeUUID           = 0
	typeGameInfo       = 6
	typeCharacter      = 9
	typePlayerInfo     = 10
	typeClientInfo     = 11
	typeGameInfoEx     = 32766
	typeDDNetCharacter = 32767

	firstExtended = 1 << 14
)

// A Snapshot is the world in one tick: items of ints, sorted by their keys. The zero value is
// empty.
type Snapshot struct {
	keys []uint32 // type and id
	ends []int    // of each item in ints
	ints []int32
}

func (s *Snapshot) reset() {
	s.keys, s.ends, s.ints = s.keys[:0], s.ends[:0], s.ints[:0]
}

// add adds an item, whose key must be greater than those before.
func (s *Snapshot) add(kind, id int32, ints ...int32) {
	s.keys = append(s.keys, uint32(kind)<<16|uint32(id))
	s.ints = append(s.ints, ints...)
	s.ends = append(s.ends, len(s.ints))
}

func (s *Snapshot) item(i int) []int32 {
	if i == 0 {
		return s.ints[:s.ends[0]]
	}
	return s.ints[s.ends[i-1]:s.ends[i]]
}

// append appends the ints of the body of a snapshot (docs/formats/demo.md section 4).
func (s *Snapshot) append(b []byte) []byte {
	b = AppendInt(b, int32(4*(len(s.keys)+len(s.ints))))
	b = AppendInt(b, int32(len(s.keys)))
	offset := 0
	for i := range s.keys {
		b = AppendInt(b, int32(offset))
		offset += 4 * (1 + len(s.item(i)))
	}
	for i, key := range s.keys {
		b = AppendInt(b, int32(key))
		for _, v := range s.item(i) {
			b = AppendInt(b, v)
		}
	}
	return b
}

// A delta collects what is different between two snapshots.
type delta struct {
	gone, new   []byte // the ints of both lists
	goneN, newN int32
}

// between sets d to what makes s out of old.
func (d *delta) between(old, s *Snapshot) {
	*d = delta{gone: d.gone[:0], new: d.new[:0]}
	i := 0
	for j, key := range s.keys {
		for ; i < len(old.keys) && old.keys[i] < key; i++ {
			d.drop(old.keys[i])
		}
		var was []int32
		if i < len(old.keys) && old.keys[i] == key {
			was = old.item(i)
			i++
		}
		d.update(key, was, s.item(j))
	}
	for ; i < len(old.keys); i++ {
		d.drop(old.keys[i])
	}
}

func (d *delta) drop(key uint32) {
	d.gone = AppendInt(d.gone, int32(key))
	d.goneN++
}

// update notes an item that is new, if was is nil, or may have changed.
func (d *delta) update(key uint32, was, is []int32) {
	if was != nil && slices.Equal(was, is) {
		return
	}
	d.newN++
	kind := int32(key >> 16)
	d.new = AppendInt(d.new, kind)
	d.new = AppendInt(d.new, int32(key&0xffff))
	if kind == typeUUID || kind >= firstExtended {
		d.new = AppendInt(d.new, int32(len(is)))
	}
	for i, v := range is {
		if was != nil {
			v -= was[i] // an item of a type has always the same size
		}
		d.new = AppendInt(d.new, v)
	}
}

// empty reports whether nothing changed.
func (d *delta) empty() bool { return d.goneN == 0 && d.newN == 0 }

// append appends the ints of the body of a delta.
func (d *delta) append(b []byte) []byte {
	b = AppendInt(b, d.goneN)
	b = AppendInt(b, d.newN)
	b = AppendInt(b, 0)
	b = append(b, d.gone...)
	return append(b, d.new...)
}
