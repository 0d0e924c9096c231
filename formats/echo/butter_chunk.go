package echo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// maxDecoded bounds the frames of one chunk in memory.
const maxDecoded = 512 << 20

// chunkText returns what a chunk decompresses to. If it is damaged, it returns the bytes before the
// damage as well. An error is that of a read.
func (r *butterReader) chunkText(ctx context.Context, n int) (*chunkBytes, *damage, error) {
	e := r.Header.Chunks[n]
	if r.Header.Compression > zstdLast {
		return &chunkBytes{}, &damage{msg: "unknown compression"}, nil
	}
	there := min(e.Size, max(r.size-e.Offset, 0))
	t, bad, err := r.load(ctx, e.Offset, min(there, r.maxChunk))
	switch {
	case err != nil:
		return nil, nil, err
	case there < e.Size:
		return t, &damage{msg: "the file ends inside it"}, nil
	case bad == nil && r.Header.Compression == stored && there > r.maxChunk:
		bad = tooLong(r.maxChunk)
	}
	if bad != nil {
		return t, &damage{code: codeChunk, msg: "it does not decompress: " + reason(bad)}, nil
	}
	return t, nil, nil
}

// load decompresses n bytes that are stored at off. bad says why they end early, err that they
// cannot be read.
func (r *butterReader) load(ctx context.Context, off, n int64) (t *chunkBytes, bad, err error) {
	m := rooms.Get().(*room)
	m.stored = slices.Grow(m.stored[:0], int(min(n, smallChunk)))[:min(n, smallChunk)]
	if got, err := r.r.ReadAt(ctx, m.stored, off); got < len(m.stored) {
		return nil, nil, formats.ShortRead(butterName, off+int64(got), err)
	}
	if n <= smallChunk {
		if b, bad := r.expand(m); !errors.Is(bad, wire.ErrSize) || r.maxChunk <= smallChunk {
			return &chunkBytes{held: b, room: m, size: int64(len(b))}, bad, nil
		}
	}
	defer rooms.Put(m)
	return unpack(ctx, r.r, off, n, packingOf(r.Header.Compression, m.stored), r.maxChunk)
}

// expand decompresses a chunk that may be a small one.
func (r *butterReader) expand(m *room) (b []byte, err error) {
	limit := min(smallChunk, r.maxChunk)
	switch r.Header.Compression {
	case stored:
		return m.stored, nil
	case gzipped:
		b, err = wire.Gunzip(m.text, m.stored, limit)
	default:
		b, err = wire.UnzstdTo(m.text, m.stored, limit)
	}
	m.text = b
	return b, err
}

// A damage is why a chunk is not wholly there: the code and message of a problem, or of none where
// the file as a whole has it.
type damage struct{ code, msg string }

// The codes of problems.
const (
	codeCompression = "unknown_compression"
	codeTruncated   = CodeTruncated
	codeTrailing    = "trailing_bytes"
	codeChunk       = "chunk_damaged"
	codeFrame       = "frame_damaged"
	codeCount       = "frame_count"
	codeBones       = "bones_unknown"
)

// reason returns the message of an error without the words around it.
func reason(err error) string {
	var e *formats.Error
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

// A butterChunk is what could be decoded of a chunk.
type butterChunk struct {
	frames  []Frame // those that are kept
	count   int     // frames that decode, those above the interval too
	parsed  int64   // bytes of whole frames
	badRef  bool    // a reference is beyond the player table
	failed  error   // where a frame does not decode
	noBones [2]int  // first and one after the last frame whose bones are left out
	end     carry
	held    *formats.Held // its frames, from freeFrames on
}

// The memory of a chunk's frames is charged in steps once it exceeds freeFrames, which is 100
// frames with bones of 15 players. A chunk keeps at most partFrames at once, which is 700 such
// frames.
const (
	freeFrames = 2 << 20
	frameStep  = 1 << 20
	partFrames = 8 << 20
)

// decodeChunk decodes the frames of a chunk. It keeps those from first up to limit, as many as
// partFrames has room for. An error is that of a read.
func decodeChunk(ctx context.Context, l *layout, kind mapKind, h *Header, t *chunkBytes, from carry, first, limit int) (c *butterChunk, err error) {
	data, more, done, err := t.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	c = &butterChunk{}
	if c.held, err = formats.Charge(ctx, 0); err != nil {
		return nil, err
	}
	d := newDecoder(l, kind, h, data, more, from)
	if err = c.decode(ctx, d, first, limit); err != nil {
		c.held.Free()
		return nil, err
	}
	c.badRef, c.end = d.badRef, d.carry
	c.end.timers = [2]float32{d.frame.Pause.PausedTimer, d.frame.Pause.UnpausedTimer}
	return c, nil
}

// decode adds the frames that d gives.
func (c *butterChunk) decode(ctx context.Context, d *decoder, first, limit int) error {
	memory, kept, charged := int64(0), int64(0), int64(freeFrames)
	for {
		if err := d.fill(ctx); err != nil {
			return err
		}
		if d.Len() == 0 {
			return nil
		}
		d.reuse = c.count < first || c.count >= limit || kept >= partFrames
		f, err := d.decode(c.count == 0)
		if err != nil {
			c.failed = err
			return nil
		}
		memory += sizeOf(&f)
		if memory > maxDecoded {
			d.Fail("the frames before it need more than %d bytes", maxDecoded)
			c.failed = d.Err()
			return nil
		}
		if c.count < limit && d.layout.bones && d.carry.lost && d.carry.count != 0 {
			c.leaveOut(c.count)
		}
		if !d.reuse {
			for kept += sizeOf(&f); charged < kept; charged += frameStep {
				if err := c.held.Grow(frameStep); err != nil {
					return err
				}
			}
			c.frames = append(c.frames, f)
		}
		c.count++
		c.parsed = d.Offset()
	}
}

// leaveOut notes a frame whose bones are left out.
func (c *butterChunk) leaveOut(i int) {
	if c.noBones[1] == 0 {
		c.noBones[0] = i
	}
	c.noBones[1] = i + 1
}

// whole reports whether the chunk decoded to its exact end with the right number of frames.
func (c *butterChunk) whole(interval int, last bool) bool {
	return c.failed == nil && c.count > 0 && (c.count == interval || last && c.count < interval)
}

// farthest is more metres than any place of the game is from its origin, and more than anything
// moves in a second.
const farthest = 1000

// near reports whether everything in the key frame is at a place that can be in the game.
func (c *butterChunk) near() bool {
	f := &c.frames[0]
	ok := nearButter(f.VR.Position) && nearButter(f.Disc.Position) && nearButter(f.Disc.Velocity)
	for t := range f.Teams {
		for i := range f.Teams[t].Players {
			for _, pose := range f.Teams[t].Players[i].Poses {
				ok = ok && nearButter(pose.Position)
			}
		}
	}
	return ok
}

func nearButter(v Vec3) bool {
	for _, x := range v {
		if !(x > -farthest && x < farthest) {
			return false
		}
	}
	return true
}

// damage returns the problem of a chunk that decompressed, or nil.
func (c *butterChunk) damage(interval int, last bool) *damage {
	switch {
	case c.failed != nil:
		at := c.parsed
		if e := (*formats.Error)(nil); errors.As(c.failed, &e) {
			at = e.Offset
		}
		return &damage{codeFrame, fmt.Sprintf("frame %d does not decode at byte %d of the chunk: %s", c.count, at, reason(c.failed))}
	case !c.whole(interval, last):
		return &damage{codeCount, fmt.Sprintf("frames: %d, due: %d", c.count, interval)}
	}
	return nil
}

// sizeOf returns how much memory a frame keeps.
func sizeOf(f *Frame) int64 {
	n := int64(unsafe.Sizeof(*f)) + int64(len(f.Bones))*int64(unsafe.Sizeof(Bones{}))
	for t := range f.Teams {
		n += int64(len(f.Teams[t].Players)) * int64(unsafe.Sizeof(Player{}))
	}
	return n
}

// decode decodes chunk n from its text, and keeps its frames from first on. The kind of map is that
// of the file or, if the recorder changed the map without starting a new file, the kind that fits
// (docs/formats/butter.md section 11).
func (r *butterReader) decode(ctx context.Context, n int, t *chunkBytes, whole bool, from carry, first int) (*butterChunk, error) {
	kind, last := r.Header.kind(), n == len(r.Header.Chunks)-1
	c, err := decodeChunk(ctx, r.Layout, kind, r.Header, t, from, first, r.Header.Interval)
	if err != nil || c.failed == nil || !whole {
		return c, err
	}
	for _, k := range []mapKind{arena, combat, other} {
		if k == kind {
			continue
		}
		o, err := decodeChunk(ctx, r.Layout, k, r.Header, t, from, first, r.Header.Interval)
		if err != nil {
			return nil, err
		}
		if o.whole(r.Header.Interval, last) && !o.badRef {
			c.held.Free()
			return o, nil
		}
		o.held.Free()
	}
	return c, nil
}

// visit calls fn for each frame of chunk n, or of the part of it that info describes. The frames
// have only what tables need: no bones, stats, rotations of players or times of pauses. A frame is
// valid until fn returns. ok is false if only Chunk can tell which frames there are, because the
// chunk is damaged or of another kind of map than the file.
func (r *butterReader) visit(ctx context.Context, n int, info *ChunkInfo, fn func(*Frame) error) (ok bool, err error) {
	t, bad, err := r.chunkText(ctx, n)
	if err != nil || bad != nil {
		return false, err
	}
	defer t.free()
	data, more, done, err := t.reader(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	d := newDecoder(r.Layout, r.Header.kind(), r.Header, data, more, carry{})
	d.reuse, d.lean = true, true
	first := int(info.FirstTick - r.tick(n))
	for i := 0; ; i++ {
		if err := d.fill(ctx); err != nil {
			return false, err
		}
		if d.Len() == 0 {
			return true, nil
		}
		f, err := d.decode(i == 0)
		if err != nil || i == r.Header.Interval {
			return false, nil
		}
		if i < first || i >= first+info.Ticks {
			continue
		}
		if err := fn(&f); err != nil {
			return false, err
		}
	}
}
