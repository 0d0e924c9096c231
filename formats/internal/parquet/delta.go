package parquet

import (
	"encoding/binary"
	"math"
	"math/bits"

	"recfs/formats/columnar"
)

// What each page in the encoding DELTA_BINARY_PACKED says of its blocks. These are the sizes that
// everybody writes.
const (
	blockNumbers = 128
	miniNumbers  = 32 // in each of the miniblocks of a block, which have the same width
)

// maxWidth is how many bits a difference may have, less the least one: fastparquet reads none that
// has more.
const maxWidth = 28

// rises reports whether none of the numbers of a column, which has no nulls, is less than the one
// before, and they rise so evenly that their differences are small.
func rises(v *columnar.Vector) bool {
	switch {
	case v.Nulls > 0 || !v.Bounded:
		return false
	case v.Type == columnar.Int32:
		return v.Max-v.Min <= math.MaxInt32 && evenly(v.Int32s)
	case v.Type == columnar.Int64 || v.Type == columnar.Time:
		return v.Max-v.Min >= 0 && evenly(v.Int64s)
	}
	return false
}

func evenly[N int32 | int64](list []N) bool {
	least, most := int64(math.MaxInt64), int64(0)
	for i := 1; i < len(list); i++ {
		more := int64(list[i]) - int64(list[i-1])
		if more < 0 {
			return false
		}
		least, most = min(least, more), max(most, more)
	}
	return most-least < 1<<maxWidth
}

// appendDeltas appends the numbers of a column from one to another, in the encoding
// DELTA_BINARY_PACKED.
func appendDeltas(out []byte, v *columnar.Vector, from, to int) []byte {
	if v.Type == columnar.Int32 {
		return appendRising(out, v.Int32s[from:to])
	}
	return appendRising(out, v.Int64s[from:to])
}

// appendRising appends numbers, one at least, as the first one and blocks of how much each is
// greater than the one before.
func appendRising[N int32 | int64](out []byte, list []N) []byte {
	out = binary.AppendUvarint(out, blockNumbers)
	out = binary.AppendUvarint(out, blockNumbers/miniNumbers)
	out = binary.AppendUvarint(out, uint64(len(list)))
	out = binary.AppendVarint(out, int64(list[0]))
	for len(list) > 1 {
		n := min(len(list)-1, blockNumbers)
		out = appendBlock(out, list[:n+1])
		list = list[n:]
	}
	return out
}

// appendBlock appends a block, of up to 128 numbers behind the first one of list:
//
//	least difference, zigzag varint | width of each miniblock, 4 u8 | miniblock …
//
// A miniblock has 32 differences, less the least one of the block, in so many bits each. There is
// none for no number.
func appendBlock[N int32 | int64](out []byte, list []N) []byte {
	var more [blockNumbers]int64
	least := int64(math.MaxInt64)
	for i, x := range list[1:] {
		more[i] = int64(x) - int64(list[i])
		least = min(least, more[i])
	}
	n := len(list) - 1
	out = binary.AppendVarint(out, least)
	widths := len(out)
	out = append(out, make([]byte, blockNumbers/miniNumbers)...)
	for mini := 0; mini*miniNumbers < n; mini++ {
		part := more[mini*miniNumbers:][:miniNumbers]
		all := int64(0)
		for i := range min(n-mini*miniNumbers, miniNumbers) {
			part[i] -= least
			all |= part[i]
		}
		w := bitRun{b: out, width: bits.Len64(uint64(all)), start: len(out)}
		out[widths+mini] = byte(w.width)
		pack(&w, part)
		out = w.end()
	}
	return out
}
