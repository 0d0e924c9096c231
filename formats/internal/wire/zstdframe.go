package wire

import (
	"encoding/binary"
	"io"
	"math/bits"
)

// What a zstd frame can give follows from its blocks, whatever it says of its size and of its window (RFC 8878,
// section 3.1.1).
const (
	zstdMagic     = 0xfd2fb528
	skippableMask = 0xfffffff0
	skippable     = 0x184d2a50

	zstdBlock = 128 << 10 // bytes that a block gives at most

	rawBlock, runBlock = 0, 1 // of what a block gives as many bytes as it says: stored, and one byte repeated

	windowAt    = 5 // where the window stands in a frame that tells it
	windowShift = 3
	minWindow   = 10 // log2 of the least window
)

// A zstdFrame is a frame as its head and the heads of its blocks tell it.
type zstdFrame struct {
	head   []byte // its magic number and head
	body   []byte // its blocks and its checksum
	single bool   // its window is its size
	size   int64  // that it says that it gives; 0 if it does not
	most   int64  // that its blocks can give
}

// cutFrame takes the first frame from src, as far as it makes sense: all of src is its body if it does not.
func cutFrame(src []byte) (f zstdFrame, rest []byte) {
	if len(src) < windowAt {
		return zstdFrame{body: src}, nil
	}
	magic := binary.LittleEndian.Uint32(src)
	if magic&skippableMask == skippable && len(src) >= 8 {
		n := min(8+int64(binary.LittleEndian.Uint32(src[4:])), int64(len(src)))
		return zstdFrame{body: src[:n]}, src[n:]
	}
	const single, checksum, dictBits, sizeShift, sum = 1 << 5, 1 << 2, 3, 6, 4
	flags := src[4]
	f.single = flags&single != 0
	at := windowAt + [...]int{0, 1, 2, 4}[flags&dictBits]
	n := [...]int{0, 2, 4, 8}[flags>>sizeShift]
	if f.single {
		n = max(n, 1)
	} else {
		at++
	}
	if magic != zstdMagic || len(src) < at+n {
		return zstdFrame{body: src}, nil
	}
	f.head = src[:at+n]
	f.size = littleEndian(src[at : at+n])
	end := at + n + f.blocks(src[at+n:])
	if flags&checksum != 0 {
		end = min(end+sum, len(src))
	}
	f.body = src[at+n : end]
	return f, src[end:]
}

// littleEndian returns the size that a head has in 0 to 8 bytes, or the greatest there is.
func littleEndian(b []byte) int64 {
	var field [8]byte
	copy(field[:], b)
	n := int64(binary.LittleEndian.Uint64(field[:]) &^ (1 << 63))
	if len(b) == 2 {
		n += 256
	}
	return n
}

// blocks adds what the blocks at the beginning of b give, and returns where the last ends.
func (f *zstdFrame) blocks(b []byte) int {
	for at := 0; len(b)-at >= 3; {
		head := uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16
		at += 3
		stored, gives := int(head>>3), zstdBlock
		switch head >> 1 & 3 {
		case rawBlock:
			gives = min(stored, gives)
		case runBlock:
			gives, stored = min(stored, gives), 1
		}
		f.most += int64(gives)
		at = min(at+stored, len(b))
		if head&1 != 0 {
			return at
		}
	}
	return len(b)
}

// window returns how many bytes the frame asks its decoder to keep.
func (f *zstdFrame) window() int64 {
	switch {
	case f.head == nil:
		return 0
	case f.single:
		return f.size
	}
	base := int64(1) << (minWindow + f.head[windowAt]>>windowShift)
	return base + base/8*int64(f.head[windowAt]&7)
}

// narrowed returns the head of the frame with a window of no more than n bytes, or a little more, which are at least
// those of a block.
func (f *zstdFrame) narrowed(n int64) []byte {
	if f.window() <= n {
		return f.head
	}
	const single = 1 << 5
	descriptor := byte(bits.Len64(uint64(n-1))-minWindow) << windowShift
	head := append([]byte(nil), f.head[:windowAt]...)
	head[windowAt-1] &^= single
	head = append(head, descriptor)
	if f.single {
		return append(head, f.head[windowAt:]...)
	}
	return append(head, f.head[windowAt+1:]...)
}

// zstdBound returns how many bytes all frames of src can give at most, and whether one says that it gives more than
// it can.
func zstdBound(src []byte) (most int64, lies bool) {
	for len(src) > 0 {
		var f zstdFrame
		f, src = cutFrame(src)
		most += f.most
		lies = lies || f.size > f.most
	}
	return most, lies
}

// A narrowReader reads frames with windows that are no larger than is needed for the first limit bytes: a decoder
// allocates by what they say.
type narrowReader struct {
	src   []byte
	limit int64
	parts [2][]byte // of the frame at hand, what is still to be read
}

// Read implements io.Reader.
func (r *narrowReader) Read(p []byte) (n int, err error) {
	if len(r.parts[0])+len(r.parts[1]) == 0 {
		if len(r.src) == 0 {
			return 0, io.EOF
		}
		var f zstdFrame
		f, r.src = cutFrame(r.src)
		r.parts = [2][]byte{f.narrowed(max(min(r.limit, f.most), zstdBlock)), f.body}
	}
	for i, b := range r.parts {
		k := copy(p[n:], b)
		r.parts[i] = b[k:]
		n += k
	}
	return n, nil
}
