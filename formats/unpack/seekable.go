package unpack

import (
	"cmp"
	"context"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"

	seekable "github.com/SaveTheRbtz/zstd-seekable-format-go/pkg"
)

// A seekableReader reads a file that a user has compressed as seekable zstd, frame by frame. If one
// is not what the seek table says, it is from then on what the stream gives.
type seekableReader struct {
	*Stream
	table  seekable.SeekTable
	size   int64       // as the table says
	told   atomic.Bool // somebody was told that size
	wrong  atomic.Bool // the table is
	warned sync.Once
}

// openSeekable opens a file as seekable zstd; nil if it is
// not, or if its frames are too large to be used one by one.
func (p *Unpacker) openSeekable(ctx context.Context, r *Stream) *seekableReader {
	raw, size := r.raw, r.key.Version.Size
	table, end, err := readSeekTable(io.NewSectionReader(nodes.At(ctx, raw), 0, size))
	if err != nil || table.Size() > math.MaxInt64 || bomb(int64(table.Size()), size) != nil {
		return nil
	}
	n := table.NumFrames()
	entry := int64(8)
	if table.HasChecksums() {
		entry += 4
	}
	if e := r.known(); e != nil && (e.hurt != nil || e.size != int64(table.Size())) {
		return nil
	}
	if end+8+n*entry+9 != size { // something stands between, or lies about its length
		return nil
	}
	for i := range n {
		if e, ok := table.EntryByID(i); !ok || e.DecompressedSize > maxFrame || e.CompressedSize > 2*maxFrame {
			return nil
		}
	}
	return &seekableReader{Stream: r, table: table, size: int64(table.Size())}
}

// open returns what the file decompresses to. Of a recording that has to have its size all frames
// are looked at before, as the rest of the tree goes by it.
func (r *seekableReader) open(ctx context.Context, how Choice) (Content, error) {
	out := Content{ReaderAt: r, Size: r.size, Damage: r.damaged}
	if how.Streams {
		out.Size, out.Measure = formats.UnknownSize, r.length
		return out, nil
	}
	if !how.Listed && r.known() == nil {
		if cache.IsSavedOnly(ctx) {
			return Content{Damage: undamaged}, &cache.NotSavedError{}
		}
		for i := range r.table.NumFrames() {
			_, _, err := r.decode(ctx, frameKey{r.key, i})
			if r.wrong.Load() {
				return r.Stream.Open(ctx, false)
			}
			if err = cmp.Or(ctx.Err(), err); err != nil {
				return Content{Damage: undamaged}, &ReadError{err}
			}
		}
		r.p.ends.Swap(r.key, &end{size: r.size})
	}
	r.told.Store(true)
	return out, nil
}

// length returns the size.
func (r *seekableReader) length(ctx context.Context) (int64, error) {
	if r.wrong.Load() {
		return r.Stream.length(ctx)
	}
	r.told.Store(true)
	return r.size, nil
}

// damaged returns the damage that is known of.
func (r *seekableReader) damaged(ctx context.Context) (*Damage, error) {
	if r.wrong.Load() {
		return r.Damaged(ctx)
	}
	return nil, nil
}

// decode reads a frame.
func (r *seekableReader) decode(ctx context.Context, k frameKey) ([]byte, int64, error) {
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
	if n, err := r.raw.ReadAt(nodes.Until(ctx, int64(e.CompressedOffset)+int64(len(packed))), packed, int64(e.CompressedOffset)); n < len(packed) {
		return nil, 0, err
	}
	b, err := readFrame(e, packed)
	if err != nil {
		r.wrong.Store(true)
		return nil, 0, err
	}
	// The frame is what zstd makes of it, which compares a checksum in the frame alone: without the
	// table the same is shown.
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
		if r.wrong.Load() {
			return r.fallBack(ctx, p, off)
		}
		at := off + int64(n)
		e, ok := r.table.EntryByDecompressedOffset(uint64(at))
		if !ok {
			return n, io.EOF
		}
		b, err := r.p.seekFrames.GetFrom(ctx, frameKey{r.key, e.ID}, r.decode)
		switch {
		case err == nil:
			n += copy(p[n:], b[at-int64(e.DecompressedOffset):])
		case !r.wrong.Load():
			return n, err
		}
	}
	return n, nil
}

// fallBack reads what the stream gives. That it ends before the size that somebody was told is an
// error.
func (r *seekableReader) fallBack(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := r.Stream.ReadAt(ctx, p, off)
	if err != io.EOF || !r.told.Load() || off+int64(n) >= r.size {
		return n, err
	}
	d, err := r.Damaged(ctx)
	if d == nil && err == nil {
		err = formats.Reasonf(formats.ErrCorrupt, "the seek table has %d bytes, the stream fewer", r.size)
		d = &Damage{Compression: r.c.Name, Stored: r.key.Version.Size, Size: off + int64(n), Err: err}
	}
	if d != nil {
		err = d
	}
	return n, err
}
