package teehistorian

import (
	"encoding/binary"
	"math/bits"
)

// maxInt is the longest encoding of an int (sheet section 2.1).
const maxInt = 5

// readInt decodes the int at b[p:] and returns it with the position behind it. b must reach at least maxInt bytes
// beyond p.
func readInt(b []byte, p int) (v int32, next int) {
	if v = int32(b[p]); v >= 0x40 {
		v, p = readLongInt(b, p) // so written the function is small enough to be inlined
	}
	return v, p + 1
}

// readLongInt is readInt for all but small numbers and returns the position of the last byte. It takes all bytes at
// once: where an int ends is as good as random, so that a branch for each byte costs more than the bytes.
func readLongInt(b []byte, p int) (int32, int) {
	c := b[p : p+maxInt]
	if c[0] < 0x80 {
		return ^int32(c[0] & 0x3f), p
	}
	w := uint64(binary.LittleEndian.Uint32(c)) | uint64(c[4]&0x0f)<<32
	last := bits.TrailingZeros64(^w & 0x80_80808080) // the top bit of the last byte
	w &= 1<<last - 1
	v := int32(w&0x3f | w>>2&0x1fc0 | w>>3&0xfe000 | w>>4&0x7f00000 | w>>5&0x78000000)
	return v ^ -int32(w>>6&1), p + last/8
}

// intAt is readInt for any position: it fails where the bytes end inside the int.
func intAt(b []byte, p int) (v int32, next int, ok bool) {
	if len(b)-p >= maxInt {
		v, next = readInt(b, p)
		return v, next, true
	}
	if p >= len(b) {
		return 0, p, false
	}
	var pad [2 * maxInt]byte
	copy(pad[:], b[p:])
	v, n := readInt(pad[:], 0)
	return v, p + n, n <= len(b)-p
}

// appendInt appends the shortest encoding of v.
func appendInt(b []byte, v int32) []byte {
	u := uint32(v ^ v>>31)
	c := byte(u&0x3f) | byte(v>>31)&0x40
	for u >>= 6; u != 0; u >>= 7 {
		b = append(b, c|0x80)
		c = byte(u & 0x7f)
	}
	return append(b, c)
}

var pow10 = [...]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// digitSums gives the number of digits of a number u of n bits as (u + digitSums[n]) >> 32: numbers of n bits have at
// most two lengths, and the sum carries where the longer one begins.
var digitSums = func() (sums [33]uint64) {
	sums[0] = 1 << 32
	for n := 1; n <= 32; n++ {
		short, long := uintLen(1<<(n-1)), uintLen(1<<n-1)
		sums[n] = uint64(long) << 32
		if short != long {
			sums[n] -= pow10[short]
		}
	}
	return sums
}()

// uintLen is the number of decimal digits of u.
func uintLen(u uint64) int {
	n := 1
	for n < len(pow10) && u >= pow10[n] {
		n++
	}
	return n
}

// intLen is the length of v in decimal with its sign.
func intLen(v int32) int {
	sign := uint32(v >> 31)
	u := uint32(v) ^ sign - sign
	return int((uint64(u)+digitSums[bits.Len32(u)])>>32) + int(sign&1)
}

// shortLens holds intLen of the numbers from -1024 to 1023, which most numbers are.
var shortLens = func() (lens [2048]uint8) {
	for i := range lens {
		lens[i] = uint8(intLen(int32(i) - 1024))
	}
	return lens
}()

// shortLen is intLen, made for small numbers.
func shortLen(v int32) int {
	if u := uint32(v + 1024); u < uint32(len(shortLens)) {
		return int(shortLens[u])
	}
	return intLen(v)
}
