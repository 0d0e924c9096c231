package jsonenc

import "math/bits"

// Pow10 holds the powers of ten.
var Pow10 = [...]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// digitSums gives the number of digits of a number u of n bits as (u + digitSums[n]) >> 32: numbers
// of n bits have at most two lengths, and the sum carries where the longer one begins.
var digitSums = func() (sums [33]uint64) {
	sums[0] = 1 << 32
	for n := 1; n <= 32; n++ {
		short, long := UintLen(1<<(n-1)), UintLen(1<<n-1)
		sums[n] = uint64(long) << 32
		if short != long {
			sums[n] -= Pow10[short]
		}
	}
	return sums
}()

// UintLen is the number of decimal digits of u.
func UintLen(u uint64) int {
	u |= 1                          // 0 has a digit, too
	n := bits.Len64(u) * 1233 >> 12 // 1233/4096 is a little more than the logarithm of 2
	if u >= Pow10[n] {
		n++
	}
	return n
}

// Int64Len is the length of v in decimal with its sign.
func Int64Len(v int64) int {
	if v < 0 {
		return 1 + UintLen(-uint64(v))
	}
	return UintLen(uint64(v))
}

// IntLen is Int64Len of fewer bits.
func IntLen(v int32) int {
	sign := uint32(v >> 31)
	u := uint32(v) ^ sign - sign
	return int((uint64(u)+digitSums[bits.Len32(u)])>>32) + int(sign&1)
}

// shortLens holds IntLen of the numbers from -1024 to 1023, which most numbers are.
var shortLens = func() (lens [2048]uint8) {
	for i := range lens {
		lens[i] = uint8(IntLen(int32(i) - 1024))
	}
	return lens
}()

// ShortLen is IntLen, made for small numbers.
func ShortLen(v int32) int {
	if u := uint32(v + 1024); u < uint32(len(shortLens)) {
		return int(shortLens[u])
	}
	return IntLen(v)
}
