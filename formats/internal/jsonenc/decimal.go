package jsonenc

import (
	"math"
	"math/bits"
	"strconv"
)

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

// A number below 1024 that is a multiple of 2^-13 has at most 13 digits behind the point. All of
// them are needed: as neighbouring float64 are at most 2^-43 apart there, a decimal with as many
// digits that stands for the same one is within 2^-44 of it, which is less than the 10^-13 to the
// next such decimal. So the shortest decimal is the exact one, for which no search is needed.
const (
	fractionBits = 13
	fractionUnit = 1 << fractionBits
)

// fraction returns x × 2^13, if x is such a number.
func fraction(x float64) (n int64, ok bool) {
	scaled := x * fractionUnit
	n = int64(scaled)
	return n, math.Abs(x) < 1024 && float64(n) == scaled && (n != 0 || !math.Signbit(x))
}

// appendFraction appends n / 2^13.
func appendFraction(dst []byte, n int64) []byte {
	if n < 0 {
		dst = append(dst, '-')
		n = -n
	}
	dst = strconv.AppendUint(dst, uint64(n)>>fractionBits, 10)
	rest := uint64(n) % fractionUnit
	if rest == 0 {
		return dst
	}
	zeros := bits.TrailingZeros64(rest)
	digits := fractionBits - zeros // m / 2^digits is m × 5^digits / 10^digits
	rest = rest >> zeros * (Pow10[digits] >> digits)
	dst = append(dst, ".0000000000000"[:1+digits]...)
	for i := len(dst) - 1; rest > 0; i-- {
		dst[i] = byte('0' + rest%10)
		rest /= 10
	}
	return dst
}

// appendSearched appends a number that is not such a fraction, by the shortest decimal that stands
// for it, or as a string if it is none.
func appendSearched(dst []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, `"NaN"`...)
	case math.IsInf(x, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(x, -1):
		return append(dst, `"-Infinity"`...)
	}
	return strconv.AppendFloat(dst, x, 'f', -1, 64)
}

// Floats appends numbers as AppendFloat64 does. It remembers the text of some that have to be
// searched for: what moves evenly gives the same ones for a while. It takes 8 KiB; nil remembers
// none.
type Floats [1 << floatBits]struct {
	bits uint64
	n    uint8 // bytes of text, 0: there is none
	text [23]byte
}

const floatBits = 8

// Append appends x.
func (f *Floats) Append(dst []byte, x float64) []byte {
	n, ok := fraction(x)
	switch {
	case ok:
		return appendFraction(dst, n)
	case f == nil:
		return appendSearched(dst, x)
	}
	bits := math.Float64bits(x)
	known := &f[bits*0x9e37_79b9_7f4a_7c15>>(64-floatBits)]
	if known.n > 0 && known.bits == bits {
		return append(dst, known.text[:known.n]...)
	}
	start := len(dst)
	dst = appendSearched(dst, x)
	if text := dst[start:]; len(text) <= len(known.text) {
		known.bits, known.n = bits, uint8(copy(known.text[:], text))
	}
	return dst
}
