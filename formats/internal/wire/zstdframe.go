package wire

import (
	"io"
	"math"
	"math/bits"

	"github.com/klauspost/compress/zstd"
)

// What a zstd frame can give follows from its blocks, whatever it says of its size and of its
// window (RFC 8878, 3.1.1).
const (
	zstdBlock = 128 << 10 // bytes that a block gives at most

	rawBlock, runBlock = 0, 1 // of what a block gives as many bytes as it says: stored, and one byte repeated

	flagsAt     = 4 // where the flags of a frame stand, and after them its window if it tells it
	singleFlag  = 1 << 5
	windowShift = 3
	minWindow   = 10 // log2 of the least window
)

// A zstdFrame is a frame as its head and the heads of its blocks tell it.
type zstdFrame struct {
	zstd.Header
	head []byte // its magic number and head
	body []byte // its blocks and its checksum
	most int64  // bytes that its blocks can give
}

// cutFrame takes the first frame from src, as far as it makes sense: all of src is its body if it
// does not.
func cutFrame(src []byte) (f zstdFrame, rest []byte) {
	if f.Decode(src) != nil {
		return zstdFrame{body: src}, nil
	}
	f.head = src[:f.HeaderSize]
	src = src[f.HeaderSize:]
	end := min(int64(f.SkippableSize), int64(len(src)))
	if !f.Skippable {
		end = int64(f.blocks(src))
	}
	if f.HasCheckSum {
		end = min(end+4, int64(len(src)))
	}
	f.body = src[:end]
	return f, src[end:]
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

// ZstdWindow returns how many bytes a frame with that head asks its decoder to keep.
func ZstdWindow(h *zstd.Header) int64 {
	window := h.WindowSize
	if h.SingleSegment {
		window = h.FrameContentSize
	}
	return int64(min(window, math.MaxInt64))
}

// narrowed returns the head of the frame with a window of no more than n bytes, or a little more,
// which are at least those of a block.
func (f *zstdFrame) narrowed(n int64) []byte {
	if ZstdWindow(&f.Header) <= n {
		return f.head
	}
	descriptor := byte(bits.Len64(uint64(n-1))-minWindow) << windowShift
	rest := f.head[flagsAt+1:]
	if !f.SingleSegment {
		rest = rest[1:]
	}
	head := append([]byte(nil), f.head[:flagsAt]...)
	head = append(head, f.head[flagsAt]&^singleFlag, descriptor)
	return append(head, rest...)
}

// zstdBound returns how many bytes all frames of src can give at most, and whether one says that it
// gives more than it can.
func zstdBound(src []byte) (most int64, lies bool) {
	for len(src) > 0 {
		var f zstdFrame
		f, src = cutFrame(src)
		most += f.most
		lies = lies || f.HasFCS && f.FrameContentSize > uint64(f.most)
	}
	return most, lies
}

// A narrowReader reads frames with windows that are no larger than is needed for the first limit
// bytes: a decoder allocates by what they say.
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
