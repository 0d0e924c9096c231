package unpack

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// The decoder of deflate (RFC 1951) for sound streams that are in memory whole, as is what comes out: it needs no window
// to copy from, and looks for more input once in 48 bits. What it cannot make sense of is for the decoder of streams to
// tell.

const (
	deflateMaxCode  = 15 // bits
	deflateFastCode = 11 // of codes that are found with one look

	deflateLiterals  = 288 // symbols of bytes, the end, and lengths; the last two stand for nothing
	deflateDistances = 32  // and of distances
	deflateLengths   = 19  // and of lengths of codes
	deflateEndSymbol = 256
)

// The entry of a symbol in a code has the bits of its code (0 to 3; all 0: it is longer than what is found with one look),
// how many more bits belong to its value (4 to 7), what it is, and the value that these are added to (from 16 on).
const (
	deflateLiteral = 1 << 8  // the value is a byte
	deflateEnd     = 1 << 9  // the block ends
	deflateBad     = 1 << 10 // it stands for nothing
)

// A deflateCode is a prefix code.
type deflateCode struct {
	fast   [1 << deflateFastCode]uint32 // entries by the next bits
	sorted [deflateLiterals]uint32      // entries in the order of their codes
	first  [deflateMaxCode + 1]uint32   // code of each length
	count  [deflateMaxCode + 1]uint32
	index  [deflateMaxCode + 1]uint32 // of the entry of that code
}

// set makes the code of which symbols, with these entries, have these lengths, and reports whether there is one.
func (c *deflateCode) set(lengths []uint8, entries []uint32) bool {
	if !c.countLengths(lengths) {
		return false
	}
	next := c.index
	for s, l := range lengths {
		if l == 0 {
			continue
		}
		e := entries[s] | uint32(l)
		code := c.first[l] + next[l] - c.index[l]
		c.sorted[next[l]] = e
		next[l]++
		reversed := int(bits.Reverse16(uint16(code)) >> (16 - l))
		if l > deflateFastCode {
			c.fast[reversed&(len(c.fast)-1)] = 0
			continue
		}
		for i := reversed; i < len(c.fast); i += 1 << l {
			c.fast[i] = e
		}
	}
	return true
}

// countLengths counts the codes of each length. They are complete, or at most one of one bit.
func (c *deflateCode) countLengths(lengths []uint8) bool {
	c.count = [deflateMaxCode + 1]uint32{}
	for _, l := range lengths {
		c.count[l]++
	}
	c.count[0] = 0
	code, used := uint32(0), uint32(0)
	for l := 1; l <= deflateMaxCode; l++ {
		code <<= 1
		c.first[l], c.index[l] = code, used
		code += c.count[l]
		used += c.count[l]
		if code > 1<<l {
			return false
		}
	}
	if code == 1<<deflateMaxCode {
		return true
	}
	clear(c.fast[:])
	return used == c.count[1] && used <= 1
}

// long returns the entry of the code that the next bits begin with.
func (c *deflateCode) long(next uint64) uint32 {
	code := uint32(0)
	for l := 1; l <= deflateMaxCode; l++ {
		code = code<<1 | uint32(next&1)
		next >>= 1
		if i := code - c.first[l]; i < c.count[l] {
			return c.sorted[c.index[l]+i]
		}
	}
	return deflateBad
}

// deflateEntries are those of all symbols (RFC 1951, 3.2.5), without the bits of their codes.
var deflateEntries = func() (all struct {
	literals  [deflateLiterals]uint32
	distances [deflateDistances]uint32
	lengths   [deflateLengths]uint32
},
) {
	for i := range all.lengths {
		all.lengths[i] = uint32(i) << 16
	}
	for i := range deflateEndSymbol {
		all.literals[i] = deflateLiteral | uint32(i)<<16
	}
	all.literals[deflateEndSymbol] = deflateEnd
	size := uint32(3)
	for i := range uint32(28) {
		extra := max(i/4, 1) - 1
		all.literals[deflateEndSymbol+1+i] = size<<16 | extra<<4
		size += 1 << extra
	}
	all.literals[285] = 258 << 16
	all.literals[286], all.literals[287] = deflateBad, deflateBad
	back := uint32(1)
	for i := range uint32(30) {
		extra := max(i/2, 1) - 1
		all.distances[i] = back<<16 | extra<<4
		back += 1 << extra
	}
	all.distances[30], all.distances[31] = deflateBad, deflateBad
	return all
}()

// An inflater is what it takes to decompress a stream.
type inflater struct {
	in   []byte
	at   int    // of what stands behind bits
	bits uint64 // the next ones, from the lowest on
	n    int    // how many; those behind the end are 0

	literals, distances deflateCode
	lengths             [deflateLiterals + deflateDistances]uint8
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// inflate decompresses in to out, and reports whether that gave as many bytes as out has, and ended there.
func inflate(out, in []byte) bool {
	f := inflaters.Get().(*inflater)
	f.in, f.at, f.bits, f.n = in, 0, 0, 0
	defer func() {
		f.in = nil
		inflaters.Put(f)
	}()
	for done, ok, last := 0, false, false; ; {
		last = f.take(1) == 1
		done, ok = f.block(out, done, f.take(2))
		if !ok || f.at-f.n/8 > len(in) {
			return false
		}
		if last {
			return done == len(out)
		}
	}
}

// fill makes sure of 56 bits.
func (f *inflater) fill() {
	if f.at+8 <= len(f.in) {
		f.bits |= binary.LittleEndian.Uint64(f.in[f.at:]) << (f.n & 63)
		f.at += (63 - f.n) >> 3
		f.n |= 56
		return
	}
	for ; f.n < 56; f.n += 8 {
		if f.at < len(f.in) {
			f.bits |= uint64(f.in[f.at]) << (f.n & 63)
		}
		f.at++
	}
}

// take returns the next n bits, up to 16.
func (f *inflater) take(n int) int {
	if f.n < n {
		f.fill()
	}
	v := int(f.bits & (1<<n - 1))
	f.bits >>= n
	f.n -= n
	return v
}

// block decompresses a block of a kind behind the first done bytes of out, and returns how many these are then.
func (f *inflater) block(out []byte, done, kind int) (int, bool) {
	switch kind {
	case 0:
		return f.stored(out, done)
	case 1:
		if !f.fixed() {
			return done, false
		}
	case 2:
		if !f.dynamic() {
			return done, false
		}
	default:
		return done, false
	}
	return f.compressed(out, done)
}

// stored copies what is not compressed.
func (f *inflater) stored(out []byte, done int) (int, bool) {
	f.take(f.n % 8)
	size, not := f.take(16), f.take(16)
	at := f.at - f.n/8
	if size^not != 1<<16-1 || size > len(f.in)-at || size > len(out)-done {
		return done, false
	}
	f.at, f.bits, f.n = at+size, 0, 0
	return done + copy(out[done:], f.in[at:at+size]), true
}

// fixed sets the codes of a block that has none (RFC 1951, 3.2.6).
func (f *inflater) fixed() bool {
	for i := range f.lengths {
		switch {
		case i >= deflateLiterals:
			f.lengths[i] = 5
		case i < 144, i >= 280:
			f.lengths[i] = 8
		case i < deflateEndSymbol:
			f.lengths[i] = 9
		default:
			f.lengths[i] = 7
		}
	}
	return f.codes(deflateLiterals, len(f.lengths))
}

// codes sets the codes of which the lengths are known: of so many symbols for literals, up to all of them.
func (f *inflater) codes(literals, all int) bool {
	return f.literals.set(f.lengths[:literals], deflateEntries.literals[:]) &&
		f.distances.set(f.lengths[literals:all], deflateEntries.distances[:])
}

// deflateOrder is in which order lengths of the codes for lengths stand (RFC 1951, 3.2.7).
var deflateOrder = [deflateLengths]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamic reads the codes of a block.
func (f *inflater) dynamic() bool {
	literals, distances, n := f.take(5)+257, f.take(5)+1, f.take(4)+4
	if literals > 286 || distances > 30 {
		return false
	}
	var lengths [deflateLengths]uint8
	for _, i := range deflateOrder[:n] {
		lengths[i] = uint8(f.take(3))
	}
	all := f.lengths[:literals+distances]
	return f.literals.set(lengths[:], deflateEntries.lengths[:]) && f.readLengths(all) &&
		all[deflateEndSymbol] > 0 && f.codes(literals, len(all))
}

// readLengths reads the lengths of codes, which are coded as literals are.
func (f *inflater) readLengths(all []uint8) bool {
	for i := 0; i < len(all); {
		f.fill()
		e := f.literals.fast[f.bits&(1<<deflateFastCode-1)]
		f.take(int(e & 15))
		v, repeat := uint8(e>>16), 1
		switch {
		case e&15 == 0:
			return false
		case v == 16 && i == 0:
			return false
		case v == 16:
			v, repeat = all[i-1], 3+f.take(2)
		case v == 17:
			v, repeat = 0, 3+f.take(3)
		case v == 18:
			v, repeat = 0, 11+f.take(7)
		}
		if repeat > len(all)-i {
			return false
		}
		for range repeat {
			all[i] = v
			i++
		}
	}
	return true
}

// compressed decompresses what the codes of a block are followed by.
func (f *inflater) compressed(out []byte, done int) (int, bool) {
	in, at, next, n := f.in, f.at, f.bits, uint(f.n) // fields would go through memory each time
	for {
		if n < 48 { // the most that a length and a distance take
			if at+8 <= len(in) {
				next |= binary.LittleEndian.Uint64(in[at:]) << (n & 63)
				at += int(63-n) >> 3
				n |= 56
			} else {
				f.at, f.bits, f.n = at, next, int(n)
				f.fill()
				at, next, n = f.at, f.bits, uint(f.n)
			}
		}
		e := f.literals.fast[next&(1<<deflateFastCode-1)]
		if e&15 == 0 {
			e = f.literals.long(next)
		}
		next >>= e & 15
		n -= uint(e & 15)
		if e&deflateLiteral != 0 {
			if done == len(out) {
				return done, false
			}
			out[done] = byte(e >> 16)
			done++
			continue
		}
		if e&(deflateEnd|deflateBad) != 0 {
			f.at, f.bits, f.n = at, next, int(n)
			return done, e&deflateEnd != 0
		}
		extra := e >> 4 & 15
		size := int(e>>16) + int(next&(1<<extra-1))
		next >>= extra
		n -= uint(extra)
		e = f.distances.fast[next&(1<<deflateFastCode-1)]
		if e&15 == 0 {
			e = f.distances.long(next)
		}
		next >>= e & 15
		n -= uint(e & 15)
		extra = e >> 4 & 15
		back := int(e>>16) + int(next&(1<<extra-1))
		next >>= extra
		n -= uint(extra)
		if e&deflateBad != 0 || back > done || size > len(out)-done {
			return done, false
		}
		copyBack(out, done, back, size)
		done += size
	}
}

// copyBack copies size bytes behind the first done ones of b, from back before there, byte by byte as it were: what is
// copied may be copied again.
func copyBack(b []byte, done, back, size int) {
	if back >= 8 && size+8 <= len(b)-done {
		to, from := b[done:], b[done-back:]
		for i := 0; i < size; i += 8 { // up to 7 more, which are overwritten
			binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(from[i:]))
		}
		return
	}
	for i := done; i < done+size; i++ {
		b[i] = b[i-back]
	}
}
