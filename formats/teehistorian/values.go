package teehistorian

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/google/uuid"
)

// maxInt is the longest encoding of an int (docs/formats/teehistorian.md section 2.1).
const maxInt = 5

// readInt decodes the int at b[p:] and returns it with the position after it. b must reach at least
// maxInt bytes beyond p.
func readInt(b []byte, p int) (v int32, next int) {
	if v = int32(b[p]); v >= 0x40 {
		v, p = readLongInt(b, p) // written this way, the function is small enough to be inlined
	}
	return v, p + 1
}

// readLongInt is readInt for all but small numbers and returns the position of the last byte. It
// takes all bytes at once: where an int ends is as good as random, so a branch for each byte costs
// more than the bytes.
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

// readTwo decodes the two ints that w, eight bytes, begins with, and returns how many bytes they
// take: 0 if one of them has more than two, which is rare.
func readTwo(w uint64) (a, b int32, n int) {
	second, n := cutTwo(w)
	return shortInt(uint32(w)), shortInt(uint32(second)), n
}

// cutTwo returns what w, eight bytes that begin with two ints, has from the second one on, and how
// many bytes both take: 0 if one of them has more than two. No branch depends on where an int ends,
// and few steps lie between the place of one record and that of the next.
func cutTwo(w uint64) (second uint64, n int) {
	long := w >> 7 & 1 // the first one has two bytes
	second = w >> (8 + 8*long)
	if (w&(w>>8)|second&(second>>8))&0x80 != 0 {
		return 0, 0
	}
	return second, int(2 + long + second>>7&1)
}

// byteInt returns the int of one byte that w begins with.
func byteInt(w uint64) int32 { return int32(w&0x3f) ^ -int32(w>>6&1) }

// shortInt returns the int of at most two bytes that w begins with.
func shortInt(w uint32) int32 {
	more := -(w >> 7 & 1) // all ones if there is a second byte
	return int32(w&0x3f|w>>2&0x1fc0&more) ^ -int32(w>>6&1)
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

// errShort says that the bytes end inside a record.
var errShort = errors.New("the bytes end inside a record")

// errBad is the base of errors about records that cannot be decoded.
var errBad = errors.New("bad record")

// An unpacker takes the ints, strings and raw bytes of a record or of a payload
// (docs/formats/teehistorian.md section 2) one after another. Its first error stays; from there on
// every value is zero.
type unpacker struct {
	b   []byte
	p   int // of the next value
	err error
}

func (u *unpacker) fail(err error) {
	if u.err == nil {
		u.err = err
	}
}

func (u *unpacker) int() int32 {
	v, p, ok := intAt(u.b, u.p)
	if !ok {
		u.fail(errShort)
	}
	if u.err != nil {
		return 0
	}
	u.p = p
	return v
}

// raw returns the next n bytes, not copied.
func (u *unpacker) raw(n int32) []byte {
	if n < 0 {
		u.fail(fmt.Errorf("%w: size %d", errBad, n))
	}
	if u.err == nil && int64(n) > int64(len(u.b)-u.p) {
		u.fail(shortBy{need: int64(u.p) + int64(n)})
	}
	if u.err != nil {
		return nil
	}
	u.p += int(n)
	return u.b[u.p-int(n) : u.p]
}

func (u *unpacker) uuid() (id uuid.UUID) {
	copy(id[:], u.raw(int32(len(id))))
	return id
}

// string returns the bytes up to a 00, not copied.
func (u *unpacker) string() []byte {
	n := bytes.IndexByte(u.b[u.p:], 0)
	if n < 0 {
		u.fail(errShort)
	}
	if u.err != nil {
		return nil
	}
	u.p += n + 1
	return u.b[u.p-n-1 : u.p-1]
}

// shortBy is errShort where the record says how many bytes it needs.
type shortBy struct{ need int64 }

func (e shortBy) Error() string { return errShort.Error() }

func (e shortBy) Is(target error) bool { return target == errShort }
