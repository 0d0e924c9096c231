package demo

// AppendInt appends v in one to five bytes (docs/formats/demo.md section 2): E S and 6 bits, then E
// and 7 bits each, least significant first. S says that the bits are the complement of v, E that
// another byte follows.
func AppendInt(b []byte, v int32) []byte {
	u := uint32(v ^ v>>31)
	c := byte(u&0x3f) | byte(v>>31)&0x40
	for u >>= 6; u != 0; u >>= 7 {
		b = append(b, c|0x80)
		c = byte(u & 0x7f)
	}
	return append(b, c)
}
