package hcrp

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// A frame is a zstd frame: where it begins, and how many bytes it has.
type frame struct {
	place
	stored int64
}

// firstAlloc bounds the buffers that are kept for stored bytes, and how much longer than the
// greatest body a frame may be.
const firstAlloc = 1 << 20

// storedBuffers hold stored bytes while they are decompressed.
var storedBuffers = sync.Pool{New: func() any { return new([]byte) }}

// expand reads the stored bytes of a frame and expands them to at most limit bytes.
func (f frame) expand(ctx context.Context, z *wire.Zstd, r formats.ReaderAt, limit int64) ([]byte, error) {
	buf := storedBuffers.Get().(*[]byte)
	defer storedBuffers.Put(buf)
	stored := slices.Grow((*buf)[:0], int(f.stored))[:f.stored]
	if f.stored <= firstAlloc {
		*buf = stored
	}
	if err := readFull(ctx, r, stored, f.offset); err != nil {
		return nil, err
	}
	return z.Expand(stored, limit)
}

// claimed returns how many bytes a frame gives at most, which is limit unless its header says less.
func (f frame) claimed(ctx context.Context, r formats.ReaderAt, limit int64) (int64, error) {
	head := make([]byte, min(f.stored, zstd.HeaderMaxSize))
	if err := readFull(ctx, r, head, f.offset); err != nil {
		return 0, err
	}
	var h zstd.Header
	if h.Decode(head) == nil && h.HasFCS && h.FrameContentSize < uint64(limit) {
		limit = int64(h.FrameContentSize)
	}
	return limit, nil
}

// readFull reads len(b) bytes at off.
func readFull(ctx context.Context, r formats.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(ctx, b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = errTruncated
	}
	return err
}
