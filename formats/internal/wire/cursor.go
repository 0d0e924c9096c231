// Package wire holds what decoders of several formats need to read bytes:
// a bounds-checked cursor, variable-length integers, and decompressors that
// stop at a bound. It knows the structures of no format.
package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"recfs/formats"
)

// A Cursor reads values from a byte slice. The first failure sticks: every
// later read returns a zero value, and Err tells what failed and where in the
// source. So a structure is read field by field and checked once.
type Cursor struct {
	Format string // named in errors
	buf    []byte
	base   int64
	pos    int
	err    *formats.Error
}

// NewCursor returns a Cursor over buf, whose first byte is at offset base of
// the source.
func NewCursor(format string, buf []byte, base int64) *Cursor {
	return &Cursor{Format: format, buf: buf, base: base}
}

// Err returns the first failure as a *formats.Error, or nil.
func (c *Cursor) Err() error {
	if c.err == nil {
		return nil
	}
	return c.err
}

// Pos returns the position in the buffer.
func (c *Cursor) Pos() int { return c.pos }

// Offset returns the position in the source.
func (c *Cursor) Offset() int64 { return c.base + int64(c.pos) }

// Len returns the number of bytes left; none after a failure.
func (c *Cursor) Len() int {
	if c.err != nil {
		return 0
	}
	return len(c.buf) - c.pos
}

// Left returns the bytes left, without a copy and without going on.
func (c *Cursor) Left() []byte { return c.buf[len(c.buf)-c.Len():] }

// Rest returns the bytes left, without a copy, and goes on after them.
func (c *Cursor) Rest() []byte { return c.Bytes(c.Len()) }

// Fail records a failure at the position, unless there is one already.
func (c *Cursor) Fail(msg string, args ...any) {
	c.fail(c.pos, formats.ErrCorrupt, fmt.Sprintf(msg, args...))
}

func (c *Cursor) fail(pos int, kind error, msg string) {
	if c.err == nil {
		c.err = formats.Errorf(c.Format, c.base+int64(pos), kind, "%s", msg)
	}
}

// Bytes returns the next n bytes, without a copy.
func (c *Cursor) Bytes(n int) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 {
		c.Fail("negative length %d", n)
		return nil
	}
	if n > len(c.buf)-c.pos {
		c.fail(len(c.buf), io.ErrUnexpectedEOF, fmt.Sprintf("%d bytes needed at %#x, %d left", n, c.Offset(), len(c.buf)-c.pos))
		return nil
	}
	b := c.buf[c.pos : c.pos+n : c.pos+n]
	c.pos += n
	return b
}

// Skip goes n bytes forward.
func (c *Cursor) Skip(n int) { c.Bytes(n) }

// U8 reads a byte.
func (c *Cursor) U8() uint8 {
	if c.err == nil && c.pos < len(c.buf) {
		c.pos++
		return c.buf[c.pos-1]
	}
	c.Bytes(1)
	return 0
}

// U16 reads a little-endian uint16.
func (c *Cursor) U16() uint16 {
	if b := c.Bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// U32 reads a little-endian uint32.
func (c *Cursor) U32() uint32 {
	if b := c.Bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// U64 reads a little-endian uint64.
func (c *Cursor) U64() uint64 {
	if b := c.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// U16BE reads a big-endian uint16.
func (c *Cursor) U16BE() uint16 {
	if b := c.Bytes(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

// U32BE reads a big-endian uint32.
func (c *Cursor) U32BE() uint32 {
	if b := c.Bytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// U64BE reads a big-endian uint64.
func (c *Cursor) U64BE() uint64 {
	if b := c.Bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// I32 reads a little-endian int32.
func (c *Cursor) I32() int32 { return int32(c.U32()) }

// F32 reads a little-endian float32.
func (c *Cursor) F32() float32 { return math.Float32frombits(c.U32()) }

// F64 reads a little-endian float64.
func (c *Cursor) F64() float64 { return math.Float64frombits(c.U64()) }

// CString reads bytes up to a NUL, which it leaves out, of at most limit
// bytes with it.
func (c *Cursor) CString(limit int) []byte {
	if c.err != nil {
		return nil
	}
	rest := c.buf[c.pos:]
	i := bytes.IndexByte(rest[:min(limit, len(rest))], 0)
	switch {
	case i >= 0:
		c.pos += i + 1
		return rest[:i:i]
	case len(rest) < limit:
		c.fail(len(c.buf), io.ErrUnexpectedEOF, fmt.Sprintf("the string at %#x has no end", c.Offset()))
	default:
		c.Fail("the string has no end within %d bytes", limit)
	}
	return nil
}

// Uvarint reads an unsigned LEB128 number (7 bits a byte, least significant
// group first, top bit: more follows) of at most maxBytes bytes. Bits beyond
// 64 are dropped; a top bit in the last allowed byte is a failure.
func (c *Cursor) Uvarint(maxBytes int) uint64 {
	if c.err == nil && c.pos < len(c.buf) && c.buf[c.pos] < 0x80 { // most numbers
		c.pos++
		return uint64(c.buf[c.pos-1])
	}
	rest := c.Left()
	rest = rest[:min(len(rest), maxBytes)]
	var x uint64
	for i, b := range rest {
		x |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			c.pos += i + 1
			return x
		}
	}
	c.pos += len(rest)
	if len(rest) < maxBytes {
		c.Bytes(1) // fails
		return 0
	}
	c.pos--
	c.Fail("a varint of more than %d bytes", maxBytes)
	return 0
}

// Zigzag maps an unsigned number to the signed one it stands for: 0, -1, 1,
// -2, 2 …
func Zigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }
