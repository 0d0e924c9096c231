package hcrp

import (
	"encoding/binary"

	"recfs/formats/internal/wire"
)

// varint reads a 32-bit number of one to five bytes (docs/formats/hcrp.md section 1).
func varint(c *wire.Cursor) int32 { return int32(uint32(c.Uvarint(5))) }

// varlong reads a 64-bit number of one to ten bytes.
func varlong(c *wire.Cursor) int64 { return int64(c.Uvarint(10)) }

// appendVarint appends a 32-bit number as varint reads it.
func appendVarint(dst []byte, n int64) []byte {
	return binary.AppendUvarint(dst, uint64(uint32(n)))
}
