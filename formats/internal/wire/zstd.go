package wire

import (
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A Zstd expands whole zstd frames in memory. It is safe for concurrent use: every expansion works
// in the caller's goroutine, with a decoder of its own out of a pool.
type Zstd struct{ decoders sync.Pool }

// NewZstd returns a Zstd for frames with windows of at most so many bytes. The options say which
// dictionaries it knows.
func NewZstd(window int64, dicts ...zstd.DOption) *Zstd {
	options := append([]zstd.DOption{
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxWindow(uint64(max(window, zstd.MinWindowSize))),
	}, dicts...)
	return &Zstd{sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, options...)
		if err != nil {
			return err
		}
		return d
	}}}
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
func (z *Zstd) Expand(src []byte, limit int64) ([]byte, error) { return z.expand(nil, src, limit) }

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
