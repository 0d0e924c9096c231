package hcrp

import (
	"encoding/binary"
	"math"

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

// fileNumber is the number of a recording that is one file, where others have a segment's.
const fileNumber = -1

// A place is where bytes are: in a segment, or in the file.
type place struct {
	segment int64 // or fileNumber
	offset  int64
}

func (p place) segmentOrNil() *int {
	if p.segment < 0 {
		return nil
	}
	return new(int(p.segment))
}

const (
	minEntry     = 13 // bytes of the shortest entry: 4 varints and the flags of a byte each, 8 of the offset
	flagSnapshot = 1  // the chunk begins with a snapshot
)

// An Entry is one entry of the chunk index.
type Entry struct {
	Start  int64 // first tick
	Ticks  int64
	Flags  uint8
	Raw    int64 // byte offset as stored
	Stored int64 // compressed length
	Size   int64 // uncompressed length

	at    int64 // offset of the entry in the file
	rawAt int64 // offset of its byte offset
}

// Last returns the last tick of the chunk's range.
func (e Entry) Last() int64 { return e.Start + e.Ticks - 1 }

// Snapshot reports whether the chunk begins with a snapshot.
func (e Entry) Snapshot() bool { return e.Flags&flagSnapshot != 0 }

// flaw returns what is impossible about the entry, or "".
func (e Entry) flaw() string {
	switch {
	case e.Start < 0:
		return "negative start tick"
	case e.Ticks <= 0:
		return "no ticks"
	case e.Stored <= 0:
		return "no stored bytes"
	case e.Size < 0:
		return "negative length"
	}
	return ""
}

// A packedEntry is an entry in half the space: an index may have millions.
type packedEntry struct {
	raw                        int64
	start, ticks, stored, size int32
	at                         uint32 // from the start of the index
	rawAt                      uint8  // from at
	flags                      uint8
}

func (e Entry) pack(index int64) packedEntry {
	return packedEntry{
		raw: e.Raw, start: int32(e.Start), ticks: int32(e.Ticks), stored: int32(e.Stored), size: int32(e.Size),
		at: uint32(e.at - index), rawAt: uint8(e.rawAt - e.at), flags: e.Flags,
	}
}

func (e *packedEntry) unpack(index int64) Entry {
	at := index + int64(e.at)
	return Entry{
		Start: int64(e.start), Ticks: int64(e.ticks), Flags: e.flags, Raw: e.raw, Stored: int64(e.stored), Size: int64(e.size),
		at: at, rawAt: at + int64(e.rawAt),
	}
}

// parseEntry reads the next index entry.
func parseEntry(c *wire.Cursor) Entry {
	e := Entry{at: c.Offset()}
	e.Start = int64(varint(c))
	e.Ticks = int64(varint(c))
	e.Flags = c.U8()
	e.rawAt = c.Offset()
	e.Raw = int64(c.U64BE())
	e.Stored = int64(varint(c))
	e.Size = int64(varint(c))
	return e
}

// appendEntries appends an index, and adds base to its byte offsets.
func appendEntries(dst []byte, list []Entry, base int64) []byte {
	for i := range list {
		dst = appendEntry(dst, list[i], base)
	}
	return dst
}

func appendEntry(dst []byte, e Entry, base int64) []byte {
	dst = appendVarint(dst, e.Start)
	dst = appendVarint(dst, e.Ticks)
	dst = append(dst, e.Flags)
	dst = binary.BigEndian.AppendUint64(dst, uint64(base+e.Raw))
	dst = appendVarint(dst, e.Stored)
	return appendVarint(dst, e.Size)
}

// addSat adds two numbers that are not both negative, stopping at the greatest int64.
func addSat(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}
