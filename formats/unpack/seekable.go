package unpack

import (
	"context"
	"io"
	"math"
	"os"
	"sync"

	"recfs/cache"
	"recfs/formats/source"
	"recfs/nodes"

	seekable "github.com/SaveTheRbtz/zstd-seekable-format-go/pkg"
)

// A seekableReader reads a file that a user has compressed as seekable zstd.
type seekableReader struct {
	p     *Unpacker
	key   source.FileKey
	raw   nodes.ReaderAt
	table seekable.SeekTable
	size  int64

	warned sync.Once
}

// openSeekable opens a file as seekable zstd; nil if it is
// not, or if its frames are too large to be used one by one.
func (p *Unpacker) openSeekable(ctx context.Context, k source.FileKey, raw nodes.ReaderAt) *seekableReader {
	size := k.Version.Size
	table, end, err := readSeekTable(io.NewSectionReader(nodes.At(ctx, raw), 0, size))
	if err != nil || table.Size() > math.MaxInt64 || bomb(int64(table.Size()), size) != nil {
		return nil
	}
	n := table.NumFrames()
	entry := int64(8)
	if table.HasChecksums() {
		entry += 4
	}
	if end+8+n*entry+9 != size { // something stands between, or lies about its length
		return nil
	}
	for i := range n {
		if e, ok := table.EntryByID(i); !ok || e.DecompressedSize > maxFrame || e.CompressedSize > 2*maxFrame {
			return nil
		}
	}
	return &seekableReader{p: p, key: k, raw: raw, table: table, size: int64(table.Size())}
}

// frame reads frame i.
func (r *seekableReader) frame(ctx context.Context, k frameKey) ([]byte, int64, error) {
	e, ok := r.table.EntryByID(k.i)
	if !ok {
		return nil, 0, io.ErrUnexpectedEOF
	}
	work := int64(e.CompressedSize) + int64(e.DecompressedSize)
	held, err := cache.Charge(ctx, work)
	if err != nil {
		return nil, 0, err
	}
	defer held.Free()
	packed := make([]byte, e.CompressedSize)
	if n, err := r.raw.ReadAt(ctx, packed, int64(e.CompressedOffset)); n < len(packed) {
		return nil, 0, err
	}
	z, err := frameDecoder()
	if err != nil {
		return nil, 0, err
	}
	b, err := readFrame(e, packed, z)
	if err != nil {
		r.p.distrust(r.key)
		return nil, 0, err
	}
	// The frame is what zstd makes of it, which compares a checksum in the frame alone: without the table the same is shown.
	if err := checkSum(r.table, e, b); err != nil {
		r.warned.Do(func() {
			r.p.log.Warn("frame of a seekable file is not as its table says", "path", r.key.Path, "frame", k.i, "err", err)
		})
	}
	return b, int64(cap(b)) + frameCost, nil
}

// ReadAt reads decompressed bytes.
func (r *seekableReader) ReadAt(ctx context.Context, p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, os.ErrInvalid
	}
	for n < len(p) {
		at := off + int64(n)
		e, ok := r.table.EntryByDecompressedOffset(uint64(at))
		if !ok {
			return n, io.EOF
		}
		b, err := r.p.seekFrames.GetFrom(ctx, frameKey{r.key, e.ID}, r.frame)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], b[at-int64(e.DecompressedOffset):])
	}
	return n, nil
}
