package deflate

import "math/bits"

const (
	maxCode  = 15 // bits
	fastCode = 11 // of codes that are found with one look

	numLiterals  = 288 // symbols of bytes, the end, and lengths; the last two stand for nothing
	numDistances = 32  // and of distances
	numLengths   = 19  // and of lengths of codes
	endSymbol    = 256
)

// The entry of a symbol in a code has the bits of its code (0 to 3; all 0: it is longer than what is found with one look),
// how many more bits belong to its value (4 to 7), what it is, and the value that these are added to (from 16 on).
const (
	isLiteral = 1 << 8  // the value is a byte
	isEnd     = 1 << 9  // the block ends
	isBad     = 1 << 10 // it stands for nothing
)

// A prefixCode is a prefix code.
type prefixCode struct {
	fast   [1 << fastCode]uint32 // entries by the next bits
	sorted [numLiterals]uint32   // entries in the order of their codes
	first  [maxCode + 1]uint32   // code of each length
	count  [maxCode + 1]uint32
	index  [maxCode + 1]uint32 // of the entry of that code
}

// set makes the code of which symbols, with these entries, have these lengths, and reports whether there is one.
func (c *prefixCode) set(lengths []uint8, entries []uint32) bool {
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
		if l > fastCode {
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
func (c *prefixCode) countLengths(lengths []uint8) bool {
	c.count = [maxCode + 1]uint32{}
	for _, l := range lengths {
		c.count[l]++
	}
	c.count[0] = 0
	code, used := uint32(0), uint32(0)
	for l := 1; l <= maxCode; l++ {
		code <<= 1
		c.first[l], c.index[l] = code, used
		code += c.count[l]
		used += c.count[l]
		if code > 1<<l {
			return false
		}
	}
	if code == 1<<maxCode {
		return true
	}
	clear(c.fast[:])
	return used == c.count[1] && used <= 1
}

// long returns the entry of the code that the next bits begin with.
func (c *prefixCode) long(next uint64) uint32 {
	code := uint32(0)
	for l := 1; l <= maxCode; l++ {
		code = code<<1 | uint32(next&1)
		next >>= 1
		if i := code - c.first[l]; i < c.count[l] {
			return c.sorted[c.index[l]+i]
		}
	}
	return isBad
}

// symbols are those of all symbols (RFC 1951, 3.2.5), without the bits of their codes.
var symbols = func() (all struct {
	literals  [numLiterals]uint32
	distances [numDistances]uint32
	lengths   [numLengths]uint32
},
) {
	for i := range all.lengths {
		all.lengths[i] = uint32(i) << 16
	}
	for i := range endSymbol {
		all.literals[i] = isLiteral | uint32(i)<<16
	}
	all.literals[endSymbol] = isEnd
	size := uint32(3)
	for i := range uint32(28) {
		extra := max(i/4, 1) - 1
		all.literals[endSymbol+1+i] = size<<16 | extra<<4
		size += 1 << extra
	}
	all.literals[285] = 258 << 16
	all.literals[286], all.literals[287] = isBad, isBad
	back := uint32(1)
	for i := range uint32(30) {
		extra := max(i/2, 1) - 1
		all.distances[i] = back<<16 | extra<<4
		back += 1 << extra
	}
	all.distances[30], all.distances[31] = isBad, isBad
	return all
}()
