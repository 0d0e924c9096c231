package parquettest

import (
	"encoding/binary"
	"math"
	"slices"
	"time"
)

// A page is what is left of the content of one.
type page struct {
	b   []byte
	c   *Column
	bit int // of the first byte, of BOOLEAN
}

// take returns n bytes.
func (p *page) take(n int) []byte {
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

// levels returns n levels of some bits each.
func (p *page) levels(n, width int) []int {
	size := int(binary.LittleEndian.Uint32(p.take(4)))
	run := page{b: p.take(size)}
	return run.packed(n, width)
}

// packed returns n values of runs, which are bit-packed or of one value.
func (p *page) packed(n, width int) (values []int) {
	for len(values) < n {
		t := &thrift{p.b}
		head := int(t.uvarint())
		p.b = t.b
		if head&1 == 1 {
			values = append(values, p.bits(head>>1*8, width)...)
			continue
		}
		value := 0
		for i, b := range p.take((width + 7) / 8) {
			value |= int(b) << (8 * i)
		}
		values = append(values, slices.Repeat([]int{value}, head>>1)...)
	}
	return values[:n]
}

// bits returns n values of some bits each, a multiple of eight of them.
func (p *page) bits(n, width int) []int {
	bits := p.take(n / 8 * width)
	values := make([]int, n)
	for i := range values {
		for k := range width {
			at := i*width + k
			values[i] |= int(bits[at/8]>>(at%8)&1) << k
		}
	}
	return values
}

// deltas returns the numbers of a page in the encoding DELTA_BINARY_PACKED.
func (p *page) deltas() (values []any) {
	t := &thrift{p.b}
	block, minis, count, x := int(t.uvarint()), int(t.uvarint()), int(t.uvarint()), t.varint()
	for values = append(values, p.number(x)); len(values) < count; {
		least, widths := t.varint(), t.b[:minis]
		t.b = t.b[minis:]
		for _, width := range widths {
			n := min(block/minis, count-len(values))
			if n == 0 {
				break
			}
			mini := page{b: t.b}
			for _, more := range mini.bits(block/minis, int(width))[:n] {
				x += least + int64(more)
				values = append(values, p.number(x))
			}
			t.b = mini.b
		}
	}
	p.b = t.b
	return values
}

// values returns the values of a data page, lists made up of their items.
func (p *page) values(n, encoding int, words []any) (values []any) {
	if encoding == deltaEncoding {
		if p.c.optional {
			p.levels(n, 1) // there are no nulls where this encoding is taken
		}
		return p.deltas()
	}
	var first []int
	full := 0
	if p.c.optional {
		full = 1
	}
	if p.c.list {
		first, full = p.levels(n, 1), 3
	}
	var defined []int
	if full > 0 {
		defined = p.levels(n, (full+1)/2)
	}
	var indices []int
	if words != nil {
		width := int(p.take(1)[0])
		count := n
		if defined != nil {
			count = 0
			for _, d := range defined {
				count += d
			}
		}
		indices = p.packed(count, width)
	}
	for i := range n {
		var v any
		if defined == nil || defined[i] == full {
			if words != nil {
				v, indices = words[indices[0]], indices[1:]
			} else {
				v = p.plain()
			}
		}
		switch {
		case !p.c.list:
			values = append(values, v)
		case defined[i] == 0:
			values = append(values, nil)
		case defined[i] == 1:
			values = append(values, []any{})
		case first[i] == 0:
			values = append(values, []any{v})
		default:
			values[len(values)-1] = append(values[len(values)-1].([]any), v)
		}
	}
	return values
}

// plain reads a value.
func (p *page) plain() any {
	le := binary.LittleEndian
	switch p.c.physical {
	case 0:
		v := p.b[0]>>p.bit&1 == 1
		if p.bit++; p.bit == 8 {
			p.b, p.bit = p.b[1:], 0
		}
		return v
	case 1:
		return p.number(int64(int32(le.Uint32(p.take(4)))))
	case 2:
		return p.number(int64(le.Uint64(p.take(8))))
	case 4:
		return math.Float32frombits(le.Uint32(p.take(4)))
	case 5:
		return math.Float64frombits(le.Uint64(p.take(8)))
	}
	return string(p.take(int(le.Uint32(p.take(4)))))
}

// number returns a whole number as a value.
func (p *page) number(n int64) any {
	switch {
	case p.c.physical == 1:
		return int32(n)
	case p.c.time:
		return time.UnixMicro(n).UTC()
	}
	return n
}
