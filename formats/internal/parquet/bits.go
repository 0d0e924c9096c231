package parquet

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"recfs/formats/columnar"
)

// A bitRun appends one bit-packed run: values of so many bits each, the least significant bit
// first, eight at a time.
type bitRun struct {
	b     []byte
	width int
	start int // of the values in b
	count int // of values
	rest  uint64
	n     int // bits in rest, which do not fill it, nor a byte where flags are appended
}

// beginRun begins a run of n values behind b with its header: how many groups of eight it has, and
// a one-bit that tells it from repeated values.
func beginRun(b []byte, n, width int) bitRun {
	b = binary.AppendUvarint(b, uint64((n+7)/8)<<1|1)
	return bitRun{b: b, width: width, start: len(b)}
}

// beginLevels begins a run of levels, before which stands how many bytes it has.
func beginLevels(b []byte, n, width int) bitRun {
	return beginRun(binary.LittleEndian.AppendUint32(b, uint32(runSize(n, width))), n, width)
}

// numbers appends values.
func (w *bitRun) numbers(list []int32) { pack(w, list) }

// pack appends values that are not less than 0, to no run that has flags.
func pack[N int32 | int64](w *bitRun, list []N) {
	w.count += len(list)
	b, rest, n := w.b, w.rest, w.n
	for _, x := range list {
		rest |= uint64(x) << n
		if n += w.width; n >= 64 {
			b = binary.LittleEndian.AppendUint64(b, rest)
			n -= 64
			rest = uint64(x) >> (w.width - n)
		}
	}
	w.b, w.rest, w.n = b, rest, n
}

// flags appends values of one bit.
func (w *bitRun) flags(list []bool) {
	w.count += len(list)
	n := len(list) &^ 7
	w.b = slices.Grow(w.b, n/8)
	for i := 0; i < n; i += 8 {
		w.rest |= eight(list[i:]) << w.n
		w.b = append(w.b, byte(w.rest))
		w.rest >>= 8
	}
	list = list[n:]
	for _, f := range list {
		w.rest |= bit(f) << w.n
		if w.n++; w.n == 8 {
			w.b = append(w.b, byte(w.rest))
			w.rest, w.n = 0, 0
		}
	}
}

// eight returns the bits of the first eight flags: of a number whose bytes are 0 or 1 the factor
// moves each into the last byte.
func eight(list []bool) uint64 {
	f := (*[8]byte)(unsafe.Pointer((*[8]bool)(list)))
	return binary.LittleEndian.Uint64(f[:]) * 0x0102_0408_1020_4080 >> 56
}

func bit(f bool) uint64 {
	if f {
		return 1
	}
	return 0
}

// end fills the last group of eight with zeros, and returns all bytes.
func (w *bitRun) end() []byte {
	w.fill((w.count + 7) / 8 * w.width)
	return w.b
}

// fill appends what is left, and zeros, up to so many bytes of values.
func (w *bitRun) fill(size int) {
	for len(w.b) < w.start+size {
		w.b = append(w.b, byte(w.rest))
		w.rest >>= 8
	}
}

// levelsSize returns how many bytes n levels of some bits each take.
func levelsSize(n, width int) int64 { return 4 + runSize(n, width) }

// runSize returns how many bytes one bit-packed run of n values takes, header and all.
func runSize(n, width int) int64 {
	groups := (n + 7) / 8
	return int64((bits.Len(uint(groups)<<1|1)+6)/7 + groups*width)
}

// indexWidth returns how many bits the number of one of n values takes.
func indexWidth(n int) int { return max(bits.Len(uint(n-1)), 1) }

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
