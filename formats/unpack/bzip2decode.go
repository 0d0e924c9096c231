package unpack

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// The decoder of bzip2 for blocks that are sound. What it cannot make sense of is for that of the standard
// library to tell.

const (
	bzip2MaxBlock = 900_000 // bytes before the runs of a block are expanded
	bzip2Group    = 50      // symbols that are coded by one table
	bzip2MaxCode  = 20      // bits
	bzip2FastCode = 10      // of codes that are found with one look

	bzip2Repeat = 4 // equal bytes, behind which stands how many more there are
)

// A bzip2Bits reads bits, the highest of a byte first. Behind the end there are zeros.
type bzip2Bits struct {
	in   []byte
	bits uint64 // the next ones, from the top
	n    int    // how many of them are there; negative: more were taken than there are
}

// fill makes sure of 56 bits, as far as there are any.
func (b *bzip2Bits) fill() {
	if len(b.in) >= 8 {
		b.bits |= binary.BigEndian.Uint64(b.in) >> b.n
		more := (63 - b.n) >> 3
		b.in = b.in[more:]
		b.n += more * 8
		return
	}
	for ; b.n <= 56 && len(b.in) > 0; b.n += 8 {
		b.bits |= uint64(b.in[0]) << (56 - b.n)
		b.in = b.in[1:]
	}
}

// skip takes up to 56 bits that fill made sure of.
func (b *bzip2Bits) skip(n int) {
	b.bits <<= n
	b.n -= n
}

// take returns the next n bits, 1 to 48.
func (b *bzip2Bits) take(n int) uint64 {
	b.fill()
	v := b.bits >> (64 - n)
	b.skip(n)
	return v
}

// A bzip2Code is a prefix code.
type bzip2Code struct {
	fast    [1 << bzip2FastCode]uint16 // by the next bits: 16 times the symbol, and the length; 0: it is longer
	symbols []uint16                   // in the order of their codes
	first   [bzip2MaxCode + 1]uint32   // code of each length
	count   [bzip2MaxCode + 1]uint32
	index   [bzip2MaxCode + 1]uint32 // of the symbol of that code
}

// set makes the code of which symbols have these lengths, and reports whether there is one.
func (c *bzip2Code) set(lengths []uint8) bool {
	clear(c.fast[:])
	clear(c.count[:])
	c.symbols = c.symbols[:0]
	for _, l := range lengths {
		c.count[l]++
	}
	code := uint32(0)
	for l := 1; l <= bzip2MaxCode; l++ {
		c.first[l], c.index[l] = code, uint32(len(c.symbols))
		for s, of := range lengths {
			if int(of) != l {
				continue
			}
			c.symbols = append(c.symbols, uint16(s))
			if l <= bzip2FastCode {
				from := int(code) << (bzip2FastCode - l)
				to := from + 1<<(bzip2FastCode-l)
				if to > len(c.fast) {
					return false
				}
				for i := from; i < to; i++ {
					c.fast[i] = uint16(s)<<4 | uint16(l)
				}
			}
			code++
		}
		if code > 1<<l {
			return false
		}
		code <<= 1
	}
	return true
}

// next returns a symbol, -1 if there is none of that code. Its bits are there.
func (c *bzip2Code) next(b *bzip2Bits) int {
	if e := c.fast[b.bits>>(64-bzip2FastCode)]; e != 0 {
		b.skip(int(e & 15))
		return int(e >> 4)
	}
	for l := bzip2FastCode + 1; l <= bzip2MaxCode; l++ {
		if at := uint32(b.bits>>(64-l)) - c.first[l]; at < c.count[l] {
			b.skip(l)
			return int(c.symbols[c.index[l]+at])
		}
	}
	return -1
}

// A bzip2Decoder decompresses a stream block by block, each in four steps: read, link, undo, expand.
type bzip2Decoder struct {
	bits  bzip2Bits
	limit int // bytes in a block
	codes [6]bzip2Code
	front [256]byte // values, the one used last first
	of    []uint8   // the code of each group of symbols

	sum   uint32
	from  uint32   // the place of the first byte
	chain []uint32 // of each byte the place of the next one, and below that in 8 bits the byte
	plain []byte   // with runs as they are stored

	lanes  [bzip2Lanes]bzip2Lane
	pieces [bzip2Pieces]bzip2Piece
}

var bzip2Decoders = sync.Pool{New: func() any {
	return &bzip2Decoder{chain: make([]uint32, 0, bzip2MaxBlock), plain: make([]byte, 0, bzip2MaxBlock)}
}}

// begin reads the head of a stream.
func (d *bzip2Decoder) begin(stream []byte) {
	d.bits = bzip2Bits{in: stream[4:]}
	d.limit = int(stream[3]-'0') * 100_000
}

// read reads a block. more is false at the end of the stream.
func (d *bzip2Decoder) read() (more, ok bool) {
	switch d.bits.take(bzip2MagicBits) {
	case bzip2EndMagic:
		return false, true
	case bzip2BlockMagic:
	default:
		return false, false
	}
	d.sum = uint32(d.bits.take(bzip2SumBits))
	if d.bits.take(1) != 0 { // it was shuffled, by a program of 1996
		return false, false
	}
	d.from = uint32(d.bits.take(24))
	symbols := d.readValues() + 2
	codes, ok := d.readGroups()
	if !ok || symbols == 2 {
		return false, false
	}
	return true, d.readCodes(codes, symbols) && d.readSymbols(symbols) && d.bits.n >= 0 && int(d.from) < len(d.chain)
}

// readValues reads which bytes there are, and returns how many.
func (d *bzip2Decoder) readValues() (n int) {
	for high := d.bits.take(16) << 48; high != 0; high &^= 1 << (63 - bits.LeadingZeros64(high)) {
		base := bits.LeadingZeros64(high) * 16
		for low := d.bits.take(16) << 48; low != 0; low &^= 1 << (63 - bits.LeadingZeros64(low)) {
			d.front[n] = byte(base + bits.LeadingZeros64(low))
			n++
		}
	}
	return n
}

// readGroups reads how many codes there are, and which one each group of symbols has.
func (d *bzip2Decoder) readGroups() (codes int, ok bool) {
	codes = int(d.bits.take(3))
	groups := int(d.bits.take(15))
	if codes < 2 || codes > len(d.codes) {
		return 0, false
	}
	order := [6]uint8{0, 1, 2, 3, 4, 5}
	d.of = d.of[:0]
	for range groups {
		i := 0
		for d.bits.take(1) != 0 {
			if i++; i == codes {
				return 0, false
			}
		}
		c := order[i]
		copy(order[1:i+1], order[:i])
		order[0] = c
		d.of = append(d.of, c)
	}
	return codes, groups > 0
}

// readCodes reads so many codes of so many symbols.
func (d *bzip2Decoder) readCodes(codes, symbols int) bool {
	var lengths [258]uint8
	for c := range codes {
		length := d.bits.take(5)
		for s := range symbols {
			for d.bits.take(1) != 0 {
				length += 1 - 2*d.bits.take(1)
				if length-1 >= bzip2MaxCode {
					return false
				}
			}
			if length-1 >= bzip2MaxCode {
				return false
			}
			lengths[s] = uint8(length)
		}
		if !d.codes[c].set(lengths[:symbols]) {
			return false
		}
	}
	return true
}

// readSymbols reads the bytes of the block, which the last symbol ends. The first two count how often the value
// in front stands there, the others say which value comes to the front.
func (d *bzip2Decoder) readSymbols(symbols int) bool {
	chain, end := d.chain[:0], symbols-1
	run, bit := 0, 0
	for _, c := range d.of {
		code := &d.codes[c]
		for range bzip2Group {
			if d.bits.n < bzip2MaxCode {
				d.bits.fill()
			}
			s := code.next(&d.bits)
			if uint(s) < 2 {
				run += (s + 1) << bit
				if bit++; run > d.limit {
					return false
				}
				continue
			}
			if run > d.limit-len(chain) {
				return false
			}
			for range run {
				chain = append(chain, uint32(d.front[0]))
			}
			run, bit = 0, 0
			switch {
			case s == end:
				d.chain = chain
				return true
			case s < 0 || len(chain) == d.limit:
				return false
			}
			v := d.front[s-1]
			copy(d.front[1:s], d.front[:s-1])
			d.front[0] = v
			chain = append(chain, uint32(v))
		}
	}
	return false
}

// link makes a chain of the bytes: the transform of Burrows and Wheeler has sorted them by what follows.
func (d *bzip2Decoder) link() {
	var next [256]uint32
	for _, c := range d.chain {
		next[byte(c)]++
	}
	sum := uint32(0)
	for i, n := range next {
		next[i] = sum
		sum += n
	}
	for i, c := range d.chain {
		at := &next[byte(c)]
		d.chain[*at] |= uint32(i) << 8
		*at++
	}
	d.from = d.chain[d.from] >> 8
}

// expand appends the bytes of the block to out, which has no more than bzip2Out then, and compares the checksum.
func (d *bzip2Decoder) expand(out []byte) ([]byte, bool) {
	begin, last, equal := len(out), -1, 0
	for _, c := range d.plain {
		switch {
		case equal == bzip2Repeat:
			for range c {
				out = append(out, byte(last))
			}
			last, equal = -1, 0
			continue
		case int(c) != last:
			last, equal = int(c), 0
		}
		equal++
		out = append(out, c)
		if len(out) > bzip2Out-256 {
			return nil, false
		}
	}
	return out, bzip2Sum(out[begin:]) == d.sum
}

// bzip2Sums are for the CRC-32 of bzip2, which takes the highest bit of a byte first: [k] is that of a byte
// with k zeros behind it.
var bzip2Sums = func() (t [4][256]uint32) {
	for i := range t[0] {
		sum := uint32(i) << 24
		for range 8 {
			sum = sum<<1 ^ uint32(int32(sum)>>31)&0x04c11db7
		}
		t[0][i] = sum
	}
	for k := range 3 {
		for i, sum := range t[k] {
			t[k+1][i] = sum<<8 ^ t[0][sum>>24]
		}
	}
	return t
}()

func bzip2Sum(b []byte) uint32 {
	sum, t := ^uint32(0), &bzip2Sums
	for ; len(b) >= 4; b = b[4:] {
		sum ^= binary.BigEndian.Uint32(b)
		sum = t[3][sum>>24] ^ t[2][byte(sum>>16)] ^ t[1][byte(sum>>8)] ^ t[0][byte(sum)]
	}
	for _, c := range b {
		sum = sum<<8 ^ t[0][byte(sum>>24)^c]
	}
	return ^sum
}

// bzip2Usual is how many bytes most blocks give at most.
const bzip2Usual = bzip2MaxBlock + bzip2MaxBlock/16

var bzip2Outs sync.Pool // of *[bzip2Usual]byte

func newBzip2Out() []byte {
	if b, ok := bzip2Outs.Get().(*[bzip2Usual]byte); ok {
		return b[:0]
	}
	return make([]byte, 0, bzip2Usual)
}

// dropBzip2Out takes what a block gave, which nobody uses any more.
func dropBzip2Out(b []byte) {
	if cap(b) == bzip2Usual {
		bzip2Outs.Put((*[bzip2Usual]byte)(b[:bzip2Usual]))
	}
}

// unpackBzip2 decompresses a stream that should give no more than bzip2Out.
func unpackBzip2(stream []byte) (m bzip2Made) {
	d := bzip2Decoders.Get().(*bzip2Decoder)
	defer func() {
		if recover() != nil {
			m = bzip2Made{err: errBzip2Window}
		}
		d.bits = bzip2Bits{}
		bzip2Decoders.Put(d)
	}()
	d.begin(stream)
	for {
		more, ok := d.read()
		if ok && !more {
			return m
		}
		if ok {
			d.link()
			d.undo()
			if m.b == nil {
				m.b = newBzip2Out()
			}
			m.b, ok = d.expand(m.b)
		}
		if !ok {
			return bzip2Made{err: errBzip2Window}
		}
	}
}
