package jsonenc

import (
	"math"
	"math/bits"
	"strconv"
)

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
