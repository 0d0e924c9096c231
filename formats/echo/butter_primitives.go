package echo

import (
	"encoding/binary"
	"math"
	"math/bits"

	"recfs/formats/internal/wire"
)

// half reads an IEEE 754 binary16.
func half(c *wire.Cursor) float32 { return fromHalf(c.U16()) }

func fromHalf(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exponent, fraction := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch {
	case exponent == 0x1f:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	case exponent == 0:
		f := float32(fraction) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(f))
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

func vec3(c *wire.Cursor) Vec3 {
	if b := c.Left(); len(b) >= 6 {
		c.Skip(6)
		return Vec3{
			fromHalf(binary.LittleEndian.Uint16(b)), fromHalf(binary.LittleEndian.Uint16(b[2:])), fromHalf(binary.LittleEndian.Uint16(b[4:])),
		}
	}
	return Vec3{half(c), half(c), half(c)} // one of which fails
}

// quatSize is how many bytes a packed rotation has.
const quatSize = 4

// quat reads a rotation packed as the three smaller of its components (docs/formats/butter.md
// section 2).
func quat(c *wire.Cursor) Quat { return fromPacked(c.U32()) }

func fromPacked(w uint32) Quat {
	return Unpack(int(w&3), component(w>>2), component(w>>12), component(w>>22))
}

// component returns the meaning of the lowest ten bits.
func component(n uint32) float32 {
	return float32(float64(float64(float32(n&0x3ff)/1023)*1.41421356) - 0.70710678)
}

// varint reads a signed integer of variable length (docs/formats/butter.md section 2).
func varint(c *wire.Cursor) int64 {
	u := uvarint(c)
	return int64(u>>1) ^ -int64(u&1)
}

func uvarint(c *wire.Cursor) uint64 {
	first := c.U8()
	switch {
	case first <= 240:
		return uint64(first)
	case first <= 248:
		return 240 + 256*uint64(first-241) + uint64(c.U8())
	case first == 249:
		high := uint64(c.U8())
		return 2288 + 256*high + uint64(c.U8())
	}
	var u uint64
	for i, b := range c.Bytes(int(first) - 247) {
		u |= uint64(b) << (8 * i)
	}
	return u
}

// uvarintLen is how many bytes a number has by its first one.
var uvarintLen = func() (t [256]uint8) {
	for first := range t {
		switch {
		case first <= 240:
			t[first] = 1
		case first <= 248:
			t[first] = 2
		default:
			t[first] = uint8(first - 246)
		}
	}
	return t
}()

// uvarintsLen returns how many bytes the first n numbers of b have. It is more than len(b) if they
// do not end in b.
func uvarintsLen(b []byte, n int) (at int) {
	const each, high, over = 0x0101010101010101, 0x80, 0x80 - 241&0x7f // which makes a high bit of the others of 241 and more
	for n >= 8 && at+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[at:])
		long := (x&(^uint64(high*each)) + over*each) & x & (high * each)
		single := bits.TrailingZeros64(long) / 8
		if at, n = at+single, n-single; long != 0 {
			at += int(uvarintLen[b[at]])
			n--
		}
	}
	for ; n > 0 && at < len(b); n-- {
		at += int(uvarintLen[b[at]])
	}
	return at + n
}

// fixed reads a component of a bone's position.
func fixed(c *wire.Cursor) float32 {
	return float32(float64((float64(varint(c))+8192)/16384*4) - 2)
}
