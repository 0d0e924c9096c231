package deflate

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// Parts of a gzip member (RFC 1952, 2.3).
const (
	gzipHead = 10 // one that has no more
	gzipTail = 8  // checksum and size
)

// gzipMagic are the identification, the method and the flags of a member whose head has no further fields.
const gzipMagic = "\x1f\x8b\x08\x00"

// Gunzip expands in, which is one gzip member, in the memory of dst or in new one. It reports whether there are up to limit
// bytes, and all is as it should be; a member with a name or the like it leaves to others.
func Gunzip(dst, in []byte, limit int64) ([]byte, bool) {
	if len(in) < gzipHead+gzipTail || string(in[:len(gzipMagic)]) != gzipMagic {
		return nil, false
	}
	in, tail := in[gzipHead:len(in)-gzipTail], in[len(in)-gzipTail:]
	sum, size := binary.LittleEndian.Uint32(tail), binary.LittleEndian.Uint32(tail[4:])
	if int64(size) > min(limit, mostRatio*int64(len(in))) {
		return nil, false
	}
	out := slices.Grow(dst[:0], int(size))[:size]
	return out, whole(out, in) == len(in) && crc32.ChecksumIEEE(out) == sum
}

// mostRatio is more than a byte expands to: 258 bytes take two bits.
const mostRatio = 1032
