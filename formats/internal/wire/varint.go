package wire

// Uvarint reads an unsigned LEB128 number (7 bits a byte, least significant
// group first, top bit: more follows) of at most maxBytes bytes. Bits beyond
// 64 are dropped; a top bit in the last allowed byte is a failure.
func (c *Cursor) Uvarint(maxBytes int) uint64 {
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
