package hcrp

import (
	"encoding/binary"
	"errors"
	"io"

	"recfs/formats"
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
func (r *Reader) Salvage(limit int) []frame {
	used := r.used()
	if r.Dir {
		return walkSegments(r.segments, used, limit)
	}
	if !r.hasIndex {
		return nil
	}
	from := max(r.Header.IndexEnd(), used[-1])
	return walkFrames(nil, r.file, place{-1, from}, r.size, limit)
}

func walkSegments(segments []segment, used map[int64]int64, limit int) []frame {
	var list []frame
	for _, s := range segments {
		list = walkFrames(list, s.file, place{s.number, used[s.number]}, s.size, limit)
	}
	return list
}

// walkFrames appends the frames that follow each other from p on. It ends at
// the first bytes that are no frame.
func walkFrames(list []frame, r io.ReaderAt, p place, size int64, limit int) []frame {
	w := window{r: r, size: size}
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
	return list
}

const (
	frameMagic     = 0xFD2FB528
	skippableMagic = 0x184D2A50 // and the 15 numbers behind it
)

// A window reads small pieces of a file through a buffer.
type window struct {
	r     io.ReaderAt
	size  int64
	start int64
	buf   []byte
}

// bytes returns n bytes at off, or nil if they are not there.
func (w *window) bytes(off int64, n int) []byte {
	if off < 0 || off > w.size-int64(n) {
		return nil
	}
	if off < w.start || off+int64(n) > w.start+int64(len(w.buf)) {
		const ahead = 64 << 10
		buf := make([]byte, min(ahead, w.size-off))
		if readFull(w.r, buf, off) != nil {
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

// A rescued chunk is one that a walk over frames found.
type rescued struct {
	body  []byte
	chunk *chunk // nil in the design layout, whose ticks are relative
}

// rescue decompresses and decodes a frame. Without a header the built-in
// schemas are tried, the newest first.
func rescue(r io.ReaderAt, f frame, number int, u *unpacker, h *Header, schemas []*Schema, limits Limits) (*rescued, error) {
	if f.stored > limits.Body+firstAlloc {
		return nil, formats.Corrupt(formatName, f.offset, "a frame of %d bytes", f.stored)
	}
	body, err := u.unpack(r, f.offset, f.stored, limits.Body)
	var bad *unpackError
	if errors.As(err, &bad) {
		return nil, formats.Corrupt(formatName, f.offset, "%v", err)
	}
	if err != nil {
		return nil, err
	}
	out := &rescued{body: body}
	if h.Layout == Design {
		return out, nil
	}
	for _, s := range schemas {
		c := decodeChunk(h, s, limits, number, anyRange, body)
		if out.chunk == nil || c.stop == nil {
			out.chunk = c
		}
		if c.stop == nil {
			break
		}
	}
	return out, nil
}
