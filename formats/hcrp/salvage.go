package hcrp

import (
	"context"
	"errors"

	"github.com/klauspost/compress/zstd"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// maxSalvaged bounds how many chunks a walk finds.
const maxSalvaged = 1 << 20

// salvage returns where there may be frames that the index does not name (docs/formats/hcrp.md
// section 13), and how their chunks are decoded. In segments these are the bytes after those that
// the index uses, in a file the bytes after the index and the last byte that it names.
func (r *Reader) salvage() *salvageSource {
	s := r.newSalvage()
	used := r.used(true)
	for _, f := range r.parts() {
		f.offset = max(f.offset, used[f.segment])
		s.gaps = append(s.gaps, f)
	}
	return s
}

// salvageBeside is salvage for all bytes that no chunk of a list uses: those of a chunk whose entry
// is damaged may be whole. The list becomes one in the order of places.
func (r *Reader) salvageBeside(chunks []int32) *salvageSource {
	s := r.newSalvage()
	r.sort(chunks, func(e *packedEntry) int64 { return e.raw })
	i := 0
	for _, f := range r.parts() { // in the order of places, too
		for ; i < len(chunks) && r.place(int(chunks[i])).segment <= f.segment; i++ {
			if p := r.place(int(chunks[i])); p.segment == f.segment && p.offset >= f.offset {
				s.gaps = append(s.gaps, gap{f.place, p.offset})
				f.offset = p.offset + r.Entry(int(chunks[i])).Stored
			}
		}
		s.gaps = append(s.gaps, f)
	}
	return s
}

// parts returns where chunks may be: all segments, or the bytes after the index.
func (r *Reader) parts() (list []gap) {
	switch {
	case r.Dir:
		for _, s := range r.segments {
			list = append(list, gap{place{s.number, 0}, s.size})
		}
	case r.hasEntries:
		list = append(list, gap{place{-1, r.Header.IndexEnd()}, r.size})
	}
	return list
}

func (r *Reader) newSalvage() *salvageSource {
	return &salvageSource{files: r.files, zstd: r.zstd, formats: []eventFormat{r.eventFormat(r.schema)}}
}

// A gap is a piece of a file in which there may be frames.
type gap struct {
	place
	end int64
}

// A salvageSource says where to look for chunks that no index names, and how they may be decoded.
type salvageSource struct {
	files
	gaps    []gap
	zstd    *wire.Zstd
	formats []eventFormat // to try, the newest first; all of one layout
}

// any reports whether there is a frame.
func (s *salvageSource) any(ctx context.Context) (bool, error) {
	list, err := s.find(ctx, 1)
	return len(list) > 0, err
}

// find returns at most limit frames, which follow one another from the start of each gap. In a gap
// it stops at the first bytes that are not a frame. An error is that of a read.
func (s *salvageSource) find(ctx context.Context, limit int) (list []frame, err error) {
	for _, g := range s.gaps {
		p := g.place
		w := window{r: s.at(p), size: g.end}
		for len(list) < limit {
			n, skippable := w.frame(ctx, p.offset)
			if n == 0 {
				break
			}
			if !skippable {
				list = append(list, frame{p, n})
			}
			p.offset += n
		}
		if w.failed != nil {
			return nil, w.failed
		}
	}
	return list, nil
}

// A window reads small pieces of a file through a buffer, for one walk.
type window struct {
	r      formats.ReaderAt
	size   int64
	start  int64
	buf    []byte
	failed error // of the last read; a file that is shorter by now has no more frames
}

// bytes returns n bytes at off, or nil if they are not there.
func (w *window) bytes(ctx context.Context, off int64, n int) []byte {
	if off < 0 || off > w.size-int64(n) {
		return nil
	}
	if off < w.start || off+int64(n) > w.start+int64(len(w.buf)) {
		const ahead = 64 << 10
		buf := make([]byte, min(ahead, w.size-off))
		if err := readFull(ctx, w.r, buf, off); err != nil {
			if !errors.Is(err, errTruncated) {
				w.failed = err
			}
			return nil
		}
		w.start, w.buf = off, buf
	}
	return w.buf[off-w.start:][:n]
}

// frame returns the length of the frame at off (RFC 8878, section 3.1), or 0 if there is no whole
// one.
func (w *window) frame(ctx context.Context, off int64) (n int64, skippable bool) {
	var h zstd.Header
	if h.Decode(w.bytes(ctx, off, int(min(zstd.HeaderMaxSize, max(w.size-off, 0))))) != nil {
		return 0, false
	}
	if h.Skippable {
		n = int64(h.HeaderSize) + int64(h.SkippableSize)
		if n > w.size-off {
			return 0, false
		}
		return n, true
	}
	return max(w.blocks(ctx, off+int64(h.HeaderSize), h.HasCheckSum)-off, 0), false
}

// blocks steps over the blocks of a frame and returns the offset after it, or 0.
func (w *window) blocks(ctx context.Context, off int64, checksum bool) int64 {
	for {
		b := w.bytes(ctx, off, 3)
		if b == nil {
			return 0
		}
		h := int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16
		off += 3
		if h>>1&3 == 1 { // one byte, repeated
			off++
		} else {
			off += h >> 3
		}
		if h&1 == 0 {
			continue
		}
		if checksum {
			off += 4
		}
		if off > w.size {
			return 0
		}
		return off
	}
}

// A rescue is a chunk that a walk over frames found.
type rescue struct {
	body  []byte
	chunk *chunk // nil in the design layout, whose ticks are relative
}

// rescue decompresses and decodes a frame. Of the formats, the first counts that decodes the frame
// to its end, or else the very first.
func (s *salvageSource) rescue(ctx context.Context, f frame, number int) (*rescue, error) {
	limits := s.formats[0].limits
	if f.stored > limits.Body+firstAlloc {
		return nil, formats.Corrupt(formatName, f.offset, "a frame of %d bytes", f.stored)
	}
	size, err := f.claimed(ctx, s.at(f.place), limits.Body)
	if err != nil {
		return nil, err
	}
	need := f.stored + decodedPerByte*size
	held, err := formats.Charge(ctx, need)
	if err != nil {
		return nil, err
	}
	defer held.Free()
	body, err := f.expand(ctx, s.zstd, s.at(f.place), limits.Body)
	var bad *wire.StreamError
	switch {
	case errors.Is(err, wire.ErrSize):
		return nil, formats.Corrupt(formatName, f.offset, "longer than the index says")
	case errors.As(err, &bad):
		return nil, formats.Corrupt(formatName, f.offset, "%v", bad)
	case err != nil:
		return nil, err
	}
	out := &rescue{body: body}
	for _, format := range s.formats {
		if format.layout == Design {
			break
		}
		c := format.decodeIn(account{held: held, n: need}, false, number, anyRange, body)
		if c.short != nil {
			return nil, c.short
		}
		if out.chunk == nil || c.stop == nil {
			out.chunk = c
		}
		if c.stop == nil {
			break
		}
	}
	return out, nil
}
