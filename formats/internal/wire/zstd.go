package wire

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A Zstd expands whole zstd frames in memory. It is safe for concurrent use: every expansion works
// in the caller's goroutine, with a decoder of its own out of a pool.
type Zstd struct {
	decoders sync.Pool
	dict     uint32 // see Assume; 0: none
}

// NewZstd returns a Zstd for frames with windows of at most so many bytes. The options say which
// dictionaries it knows.
func NewZstd(window int64, dicts ...zstd.DOption) *Zstd {
	options := append([]zstd.DOption{
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxWindow(uint64(max(window, zstd.MinWindowSize))),
	}, dicts...)
	return &Zstd{decoders: sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, options...)
		if err != nil {
			return err
		}
		return d
	}}}
}

// Assume returns z, which from now on takes a dictionary that it knows, by its id, for frames that
// name none and cannot be expanded without.
func (z *Zstd) Assume(dict uint32) *Zstd {
	z.dict = dict
	return z
}

// zstdWindow bounds the window of a zstd frame that Unzstd expands.
const zstdWindow = 64 << 20

var plainZstd = NewZstd(zstdWindow)

// Unzstd expands src, one or more zstd frames without a dictionary, as Expand does.
func Unzstd(src []byte, limit int64) ([]byte, error) { return plainZstd.Expand(src, limit) }

// UnzstdTo is Unzstd in the memory of dst as far as that goes.
func UnzstdTo(dst, src []byte, limit int64) ([]byte, error) { return plainZstd.expand(dst, src, limit) }

// packer is one for all, as it keeps tables of some 100 KiB for each frame that is being made.
var packer = sync.OnceValue(func() *zstd.Encoder {
	e, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), // it fails only
		zstd.WithWindowSize(packWindow), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false)) // for options that are not possible
	return e
})

const packWindow = 64 << 10

// Pack compresses src to a frame that Unzstd expands.
func Pack(src []byte) []byte { return packer().EncodeAll(src, nil) }

// Expand expands src, one or more zstd frames, to at most limit bytes; more are an ErrSize, and
// damage is a *StreamError. With the error come the bytes before it.
//
// It allocates by limit as far as the blocks of src can give that much, at most 1 MiB at first, and
// four times as much whenever that was too little.
func (z *Zstd) Expand(src []byte, limit int64) ([]byte, error) {
	out, err := z.expand(nil, src, limit)
	if bad := (*StreamError)(nil); z.dict != 0 && errors.As(err, &bad) {
		if again, err := z.expand(nil, nameDict(src, z.dict), limit); err == nil {
			return again, nil
		}
	}
	return out, err
}

// nameDict returns the frames of src, of which those that name no dictionary name this one.
func nameDict(src []byte, dict uint32) (out []byte) {
	for len(src) > 0 {
		f, rest := cutFrame(src)
		if head := f.head; head != nil && !f.Skippable && f.DictionaryID == 0 {
			at := flagsAt + 1
			if !f.SingleSegment {
				at++ // the window
			}
			out = binary.LittleEndian.AppendUint32(append(out, head[:at]...), dict)
			out[len(out)-4-at+flagsAt] |= dictFlag
			out = append(out, head[at:]...)
		} else {
			out = append(out, head...)
		}
		out, src = append(out, f.body...), rest
	}
	return out
}

// expand is Expand in the memory of dst as far as that goes.
func (z *Zstd) expand(dst, src []byte, limit int64) ([]byte, error) {
	if len(src) == 0 {
		return nil, corrupt(io.ErrUnexpectedEOF)
	}
	var d *zstd.Decoder
	switch v := z.decoders.Get().(type) {
	case *zstd.Decoder:
		d = v
		defer z.decoders.Put(d)
	case error:
		return nil, v
	}
	most, lies := zstdBound(src)
	if lies {
		return stream(d, src, limit)
	}
	most = min(most, limit) + 1
	first := max(min(64*int64(len(src))+512, firstAlloc), int64(cap(dst)))
	for room := min(most, first); ; room = min(4*room, most) {
		out, err := d.DecodeAll(src, slices.Grow(dst[:0], int(room))[:0:room])
		switch {
		case err == nil && int64(len(out)) > limit:
			return out[:limit], tooLong(limit)
		case err == nil:
			return out, nil
		case !errors.Is(err, zstd.ErrDecoderSizeExceeded):
			return stream(d, src, limit)
		case room == most:
			out, _ := stream(d, src, limit)
			return out, tooLong(limit)
		}
	}
}

// stream expands what failed at once: of a frame that does not tell its size the library gives any
// error if there is too little room.
func stream(d *zstd.Decoder, src []byte, limit int64) ([]byte, error) {
	if err := d.Reset(&narrowReader{src: src, limit: limit + 1}); err != nil {
		return nil, corrupt(err)
	}
	defer d.Reset(nil) //nolint:errcheck // only lets go of src
	return readUpTo(bufferFor(len(src), limit), d, limit, 2)
}

// What a zstd frame can give follows from its blocks, whatever it says of its size and of its
// window (RFC 8878, 3.1.1).
const (
	zstdBlock = 128 << 10 // bytes that a block gives at most

	rawBlock, runBlock = 0, 1 // of what a block gives as many bytes as it says: stored, and one byte repeated

	flagsAt     = 4 // where the flags of a frame stand, and after them its window if it tells it
	singleFlag  = 1 << 5
	dictFlag    = 3 // a dictionary is named, in four bytes
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
