package hcrp

import (
	"context"
	"encoding/binary"
	"errors"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// maxSalvaged bounds how many chunks a walk finds.
const maxSalvaged = 1 << 20

// A frame is a zstd frame that no index names.
type frame struct {
	place
	stored int64
}

// Salvage finds the frames that the index does not name, at most limit (docs/formats/hcrp.md
// section 13): in segments behind what the index uses, in a file behind the index and the last byte
// it names.
func (r *Reader) Salvage(ctx context.Context, limit int) ([]frame, error) {
	used := r.used()
	if r.Dir {
		return walkSegments(ctx, r.segments, used, limit)
	}
	if !r.hasEntries {
		return nil, nil
	}
	from := max(r.Header.IndexEnd(), used[-1])
	return walkFrames(ctx, nil, r.file, place{-1, from}, r.size, limit)
}

func walkSegments(ctx context.Context, segments []segment, used map[int64]int64, limit int) (list []frame, err error) {
	for _, s := range segments {
		if list, err = walkFrames(ctx, list, s.file, place{s.number, used[s.number]}, s.size, limit); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// walkFrames appends the frames that follow each other from p on. It ends at
// the first bytes that are no frame; the error is one of reading.
func walkFrames(ctx context.Context, list []frame, r formats.ReaderAt, p place, size int64, limit int) ([]frame, error) {
	w := window{ctx: ctx, r: r, size: size}
	for len(list) < limit {
		n, skippable := w.frame(p.offset)
		if n == 0 {
			break
		}
		if !skippable {
			list = append(list, frame{p, n})
		}
		p.offset += n
	}
	return list, w.failed
}

const (
	frameMagic     = 0xFD2FB528
	skippableMagic = 0x184D2A50 // and the 15 numbers behind it
)

// A window reads small pieces of a file through a buffer, for one walk.
type window struct {
	ctx    context.Context
	r      formats.ReaderAt
	size   int64
	start  int64
	buf    []byte
	failed error // of the last read; a file that is shorter by now has no more frames
}

// bytes returns n bytes at off, or nil if they are not there.
func (w *window) bytes(off int64, n int) []byte {
	if off < 0 || off > w.size-int64(n) {
		return nil
	}
	if off < w.start || off+int64(n) > w.start+int64(len(w.buf)) {
		const ahead = 64 << 10
		buf := make([]byte, min(ahead, w.size-off))
		if err := readFull(w.ctx, w.r, buf, off); err != nil {
			if !errors.Is(err, errTruncated) {
				w.failed = err
			}
			return nil
		}
		w.start, w.buf = off, buf
	}
	return w.buf[off-w.start:][:n]
}

// frame returns the length of the frame at off (RFC 8878, section 3.1), or 0
// if there is no whole one.
func (w *window) frame(off int64) (n int64, skippable bool) {
	b := w.bytes(off, 8)
	if b == nil {
		return 0, false
	}
	m := binary.LittleEndian.Uint32(b)
	if m&^0xf == skippableMagic {
		n := 8 + int64(binary.LittleEndian.Uint32(b[4:]))
		if n > w.size-off {
			return 0, false
		}
		return n, true
	}
	if m != frameMagic {
		return 0, false
	}
	end := w.blocks(off+5+headerFields(b[4]), b[4]&4 != 0)
	if end == 0 {
		return 0, false
	}
	return end - off, false
}

// headerFields returns how many bytes of a frame's header follow its
// descriptor: window, dictionary id and content size.
func headerFields(descriptor byte) int64 {
	single := int64(descriptor >> 5 & 1)
	n := 1 - single + [4]int64{0, 1, 2, 4}[descriptor&3]
	return n + [4]int64{single, 2, 4, 8}[descriptor>>6]
}

// blocks steps over the blocks of a frame and returns the offset behind it,
// or 0.
func (w *window) blocks(off int64, checksum bool) int64 {
	for {
		b := w.bytes(off, 3)
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

// A salvageSource is where chunks that no index names are looked for, and what
// is known about how to decode them.
type salvageSource struct {
	walk    func(ctx context.Context, limit int) ([]frame, error) // finds at most so many frames
	file    func(segment int64) formats.ReaderAt                  // a segment, or the file of segment -1
	header  *Header
	schemas []*Schema // to try, the newest first
	zstd    *wire.Zstd
	limits  Limits
}

// A rescued chunk is one that a walk over frames found.
type rescued struct {
	body  []byte
	chunk *chunk // nil in the design layout, whose ticks are relative
}

// rescue decompresses and decodes a frame. Without a header the built-in
// schemas are tried, the newest first.
func (s *salvageSource) rescue(ctx context.Context, f frame, number int) (*rescued, error) {
	if f.stored > s.limits.Body+firstAlloc {
		return nil, formats.Corrupt(formatName, f.offset, "a frame of %d bytes", f.stored)
	}
	body, err := f.expand(ctx, s.zstd, s.file(f.segment), s.limits.Body)
	var bad *wire.StreamError
	switch {
	case errors.Is(err, wire.ErrSize):
		return nil, formats.Corrupt(formatName, f.offset, "longer than the index says")
	case errors.As(err, &bad):
		return nil, formats.Corrupt(formatName, f.offset, "%v", bad.Err)
	}
	if err != nil {
		return nil, err
	}
	out := &rescued{body: body}
	if s.header.Layout == Design {
		return out, nil
	}
	for _, schema := range s.schemas {
		c := decodeChunk(s.header, schema, s.limits, number, anyRange, body)
		if out.chunk == nil || c.stop == nil {
			out.chunk = c
		}
		if c.stop == nil {
			break
		}
	}
	return out, nil
}
