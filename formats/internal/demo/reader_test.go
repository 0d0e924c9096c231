package demo_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"recfs/formats/internal/demo"
)

// A strict reader of demos, which takes nothing but what docs/formats/demo.md says.

// errNot says that something is not as the page has it.
var errNot = errors.New("not a demo")

func not(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errNot}, args...)...)
}

// A node is a branch of the Huffman tree, made by the words of
// docs/formats/demo.md section 2.
type node struct {
	frequency, symbol int
	branches          [2]*node
}

func huffmanTree(frequencies []int) *node {
	var list []*node
	for symbol, f := range frequencies {
		list = append(list, &node{frequency: f, symbol: symbol})
	}
	for len(list) > 1 {
		slices.SortStableFunc(list, func(a, b *node) int { return b.frequency - a.frequency })
		n := len(list)
		last, before := list[n-1], list[n-2]
		list = append(list[:n-2], &node{frequency: last.frequency + before.frequency, branches: [2]*node{last, before}})
	}
	return list[0]
}

// unhuffman returns the bytes of a body.
func unhuffman(root *node, body []byte) ([]byte, error) {
	var out []byte
	at := root
	for i, c := range body {
		for bit := range 8 {
			at = at.branches[c>>bit&1]
			if at.branches[0] != nil {
				continue
			}
			if at.symbol == 256 {
				if c>>(bit+1) != 0 || i+1 < len(body) {
					return nil, not("bits after the end symbol")
				}
				return out, nil
			}
			out = append(out, byte(at.symbol))
			at = root
		}
	}
	return nil, not("no end symbol")
}

// readInt reads one int in its shortest form.
func readInt(b []byte) (v int32, rest []byte, err error) {
	if len(b) == 0 {
		return 0, nil, not("a missing int")
	}
	whole := b
	c := b[0]
	u := uint32(c & 0x3f)
	for shift := 6; c&0x80 != 0; shift += 7 {
		if b = b[1:]; len(b) == 0 || shift > 27 {
			return 0, nil, not("an int without an end")
		}
		c = b[0]
		u |= uint32(c&0x7f) << shift
	}
	v = int32(u)
	if whole[0]&0x40 != 0 {
		v = ^v
	}
	b = b[1:]
	if n := len(whole) - len(b); !bytes.Equal(demo.AppendInt(nil, v), whole[:n]) {
		return 0, nil, not("the int % x", whole[:n])
	}
	return v, b, nil
}

func readInts(b []byte) (list []int32, err error) {
	for len(b) > 0 {
		var v int32
		if v, b, err = readInt(b); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// items are those of a snapshot by their keys.
type items map[uint32][]int32

// sizes are those of items by type.
var sizes = [...]int{4, 10, 6, 5, 4, 3, 8, 4, 15, 22, 5, 17, 3, 2, 2, 2, 2, 3, 3, 3, 3}

func (s items) check() error {
	bytes := 8
	for key, ints := range s {
		kind := int(key >> 16)
		bytes += 8 + 4*len(ints)
		switch {
		case kind < len(sizes) && len(ints) != sizes[kind], kind >= len(sizes) && (kind < 0x4000 || kind >= 0x8000):
			return not("an item of type %d with %d ints", kind, len(ints))
		case kind >= 0x4000 && s[uint32(kind)] == nil:
			return not("an item of type %d without a UUID", kind)
		}
	}
	if len(s) > 1024 || bytes > 65536 {
		return not("%d items of %d bytes", len(s), bytes)
	}
	return nil
}

func readSnapshot(v []int32) (items, error) {
	if len(v) < 2 || v[0]%4 != 0 || v[1] < 0 || len(v) != 2+int(v[1])+int(v[0])/4 {
		return nil, not("the size of a snapshot")
	}
	n := int(v[1])
	offsets, data := append(slices.Clone(v[2:2+n]), v[0]), v[2+n:]
	s, last := items{}, int64(-1)
	for i := range n {
		from, to := offsets[i], offsets[i+1]
		if from%4 != 0 || i == 0 && from != 0 || from >= to {
			return nil, not("the offsets of a snapshot")
		}
		key := uint32(data[from/4])
		if int64(key) <= last {
			return nil, not("keys that do not rise")
		}
		last = int64(key)
		s[key] = data[from/4+1 : to/4]
	}
	return s, s.check()
}

// readDelta returns the snapshot after a delta, and whether it is an empty one.
func readDelta(v []int32, old items) (items, bool, error) {
	if len(v) < 3 || v[0] < 0 || v[1] < 0 || v[2] != 0 {
		return nil, false, not("the beginning of a delta")
	}
	gone, changed, rest := int(v[0]), int(v[1]), v[3:]
	s := maps.Clone(old)
	if gone > len(rest) {
		return nil, false, not("a delta that is too short")
	}
	for _, key := range rest[:gone] {
		if s[uint32(key)] == nil {
			return nil, false, not("a deleted item that was not there")
		}
		delete(s, uint32(key))
	}
	rest = rest[gone:]
	seen := map[uint32]bool{}
	for range changed {
		if len(rest) < 3 || rest[0] < 0 || rest[0] > 0x7fff || rest[1] < 0 || rest[1] > 0xffff {
			return nil, false, not("a changed item")
		}
		kind, key := int(rest[0]), uint32(rest[0])<<16|uint32(rest[1])
		rest = rest[2:]
		var size int
		if kind >= 1 && kind < len(sizes) {
			size = sizes[kind]
		} else {
			size, rest = int(rest[0]), rest[1:]
		}
		if size < 0 || size > len(rest) || seen[key] || old[key] != nil && s[key] == nil {
			return nil, false, not("a changed item %d", key)
		}
		seen[key] = true
		is := slices.Clone(rest[:size])
		if was := old[key]; was != nil {
			if len(was) != size || !slices.ContainsFunc(is, func(v int32) bool { return v != 0 }) {
				return nil, false, not("an item %d that changed its size, or not at all", key)
			}
			for i := range is {
				is[i] += was[i]
			}
		}
		s[key] = is
		rest = rest[size:]
	}
	if len(rest) > 0 {
		return nil, false, not("ints after a delta")
	}
	return s, gone+changed == 0, s.check()
}

// A tick is one of a demo.
type tick struct {
	number   int32
	key      bool
	drawn    bool
	empty    bool // it has the empty delta
	items    items
	messages [][]byte
}

// A reader reads the chunks of a demo.
type reader struct {
	tree  *node
	b     []byte
	ticks []tick
}

// readChunks returns all ticks.
func readChunks(tree *node, b []byte) ([]tick, error) {
	r := &reader{tree: tree, b: b}
	for len(r.b) > 0 {
		c := r.b[0]
		r.b = r.b[1:]
		var err error
		if c&0x80 != 0 {
			err = r.marker(c)
		} else {
			err = r.data(c)
		}
		if err != nil {
			return r.ticks, err
		}
	}
	if n := len(r.ticks); n == 0 || !r.ticks[n-1].drawn {
		return r.ticks, not("a last tick without a snapshot")
	}
	return r.ticks, nil
}

func (r *reader) marker(c byte) error {
	t := tick{key: c == 0xc0}
	n := len(r.ticks)
	switch {
	case t.key && len(r.b) >= 4:
		t.number = int32(binary.BigEndian.Uint32(r.b))
		r.b = r.b[4:]
	case c == 0xa1 && n > 0:
		t.number = r.ticks[n-1].number + 1
	default:
		return not("the marker %02x", c)
	}
	if t.number < 0 || t.number > 1879048190 {
		return not("the tick %d", t.number)
	}
	if n > 0 {
		before := &r.ticks[n-1]
		if t.number != before.number+1 || before.key && !before.drawn || before.empty {
			return not("what is before tick %d", t.number)
		}
		t.items = before.items
	}
	if t.key != (n == 0 || t.number%250 == 0) {
		return not("the kind of tick %d", t.number)
	}
	r.ticks = append(r.ticks, t)
	return nil
}

func (r *reader) data(c byte) error {
	if len(r.ticks) == 0 {
		return not("data before the first tick")
	}
	t := &r.ticks[len(r.ticks)-1]
	body, err := r.body(c)
	if err != nil {
		return err
	}
	v, err := readInts(body)
	if err != nil {
		return err
	}
	kind := c >> 5
	if kind != 2 && (t.drawn || len(t.messages) > 0 || t.key != (kind == 1)) {
		return not("the place of data in tick %d", t.number)
	}
	switch kind {
	case 1:
		t.drawn = true
		t.items, err = readSnapshot(v)
	case 2:
		var payload []byte
		for _, n := range v {
			payload = binary.LittleEndian.AppendUint32(payload, uint32(n))
		}
		t.messages = append(t.messages, payload)
	case 3:
		t.drawn = true
		t.items, t.empty, err = readDelta(v, t.items)
	default:
		err = not("data of kind %d", kind)
	}
	return err
}

// body returns the bytes of a chunk that begins with c, decompressed.
func (r *reader) body(c byte) ([]byte, error) {
	size, least := int(c&0x1f), 1
	switch {
	case size == 30 && len(r.b) >= 1:
		size, least, r.b = int(r.b[0]), 30, r.b[1:]
	case size == 31 && len(r.b) >= 2:
		size, least, r.b = int(binary.LittleEndian.Uint16(r.b)), 256, r.b[2:]
	}
	if size < least || size > len(r.b) {
		return nil, not("the size %d of a chunk", size)
	}
	body := r.b[:size]
	r.b = r.b[size:]
	return unhuffman(r.tree, body)
}
