package teehistorian

import "math/bits"

// maxInt is the longest encoding of an int (sheet section 2.1).
const maxInt = 5

// readInt decodes the int at b[p:] and returns it with the position behind it. b must reach at least maxInt bytes
// beyond p.
func readInt(b []byte, p int) (int32, int) {
	if c := b[p]; c < 0x40 {
		return int32(c), p + 1
	}
	return readLongInt(b, p)
}

func readLongInt(b []byte, p int) (int32, int) {
	b = b[p : p+maxInt]
	c := b[0]
	sign := -int32(c >> 6 & 1) // all ones if S is set: the value is the complement
	v := int32(c & 0x3f)
	if c < 0x80 {
		return v ^ sign, p + 1
	}
	c = b[1]
	v |= int32(c&0x7f) << 6
	if c < 0x80 {
		return v ^ sign, p + 2
	}
	c = b[2]
	v |= int32(c&0x7f) << 13
	if c < 0x80 {
		return v ^ sign, p + 3
	}
	c = b[3]
	v |= int32(c&0x7f) << 20
	if c < 0x80 {
		return v ^ sign, p + 4
	}
	return (v | int32(b[4]&0x0f)<<27) ^ sign, p + 5
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

// uintLen is the number of decimal digits of u.
func uintLen(u uint64) int {
	t := bits.Len64(u|1) * 1233 >> 12 // log10(2) = 1233/4096 and a little
	if u < pow10[t] {
		return max(t, 1)
	}
	return t + 1
}

// intLen is the length of v in decimal with its sign.
func intLen(v int32) int {
	if v >= 0 {
		if v < 10 {
			return 1
		}
		return uintLen(uint64(v))
	}
	return 1 + uintLen(uint64(-int64(v)))
}
