package butter

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"recfs/formats"
	"recfs/formats/internal/echovr"
	"recfs/formats/internal/wire"
)

// maxDecoded bounds the frames of one chunk in memory.
const maxDecoded = 512 << 20

// chunkBytes returns the decompressed bytes of a chunk. With an error that is damage come the bytes
// before it; any other error is one of reading.
func (r *Reader) chunkBytes(ctx context.Context, n int) ([]byte, *damage, error) {
	e := r.Header.Chunks[n]
	if r.Header.Compression > zstdLast {
		return nil, &damage{msg: "unknown compression"}, nil
	}
	there := min(e.Size, max(r.size-e.Offset, 0))
	if err := enough(ctx, min(there, r.maxChunk)); err != nil {
		return nil, nil, err
	}
	b := make([]byte, min(there, r.maxChunk))
	if got, err := r.r.ReadAt(ctx, b, e.Offset); got < len(b) {
		return nil, nil, formats.ShortRead(name, e.Offset+int64(got), err)
	}
	var err, short error
	switch {
	case r.Header.Compression == gzipped:
		b, err, short = r.expand(ctx, wire.Gunzip, b)
	case r.Header.Compression != stored:
		b, err, short = r.expand(ctx, wire.Unzstd, b)
	case there > r.maxChunk:
		err = fmt.Errorf("more than %d bytes", r.maxChunk)
	}
	switch {
	case short != nil:
		return nil, nil, short
	case there < e.Size:
		return b, &damage{msg: "the file ends inside it"}, nil
	case err != nil:
		return b, &damage{code: codeChunk, msg: "it does not decompress: " + reason(err)}, nil
	}
	return b, nil, nil
}

// smallChunk is how many bytes of a chunk count as nothing special: real ones have some 40 KiB.
const smallChunk = 256 << 10

// decodedPerByte is about how many bytes decoding takes for each of a chunk.
const decodedPerByte = 12

// enough fails if there is too little memory for a chunk of n bytes and its frames.
func enough(ctx context.Context, n int64) error {
	if n <= smallChunk {
		return nil
	}
	held, err := formats.Charge(ctx, decodedPerByte*n)
	held.Free()
	return err
}

// expand decompresses a chunk. One that gives more than is usual is expanded again, up to eight times as much, once there
// is memory for that: else the second error says that there is too little.
func (r *Reader) expand(ctx context.Context, by func(src []byte, limit int64) ([]byte, error), src []byte) (b []byte, err, short error) {
	for limit := min(smallChunk, r.maxChunk); ; limit = min(8*limit, r.maxChunk) {
		if short = enough(ctx, limit); short != nil {
			return nil, nil, short
		}
		if b, err = by(src, limit); !errors.Is(err, wire.ErrSize) || limit == r.maxChunk {
			return b, err, nil
		}
	}
}

// A damage is why a chunk is not wholly there: the code and message of a problem, or of none where
// the file as a whole has it.
type damage struct{ code, msg string }

// The codes of problems.
const (
	codeCompression = "unknown_compression"
	codeTruncated   = "truncated"
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

// A chunk is what could be decoded of a chunk.
type chunk struct {
	frames  []echovr.Frame
	kind    mapKind // under which it was read
	count   int     // frames that decode, those above the interval too
	parsed  int     // bytes of whole frames
	badRef  bool    // a reference is beyond the player table
	failed  error   // where a frame does not decode
	noBones [2]int  // first and one after the last frame whose bones are left out
	end     carry
}

// decodeChunk decodes the frames of a chunk, of which it keeps the first limit.
func decodeChunk(l *layout, kind mapKind, u *users, data []byte, from carry, limit int) *chunk {
	d := newDecoder(l, kind, u, data, from)
	c := &chunk{kind: kind}
	memory := int64(0)
	for d.Len() > 0 {
		f, err := d.decode(c.count == 0)
		if err != nil {
			c.failed = err
			break
		}
		memory += sizeOf(&f)
		if memory > maxDecoded {
			d.Fail("the frames before it need more than %d bytes", maxDecoded)
			c.failed = d.Err()
			break
		}
		if len(c.frames) < limit {
			if l.bones && d.carry.lost && d.carry.count != 0 {
				c.leaveOut(len(c.frames))
			}
			c.frames = append(c.frames, f)
		}
		c.count++
		c.parsed = d.Pos()
	}
	c.badRef, c.end = d.badRef, d.carry
	c.end.timers = [2]float32{d.frame.Pause.PausedTimer, d.frame.Pause.UnpausedTimer}
	return c
}

// leaveOut notes a frame whose bones are left out.
func (c *chunk) leaveOut(i int) {
	if c.noBones[1] == 0 {
		c.noBones[0] = i
	}
	c.noBones[1] = i + 1
}

// whole reports whether the chunk decoded to its exact end with the right number of frames.
func (c *chunk) whole(interval int, last bool) bool {
	return c.failed == nil && c.count > 0 && (c.count == interval || last && c.count < interval)
}

// farthest is more metres than any place of the game is from its origin, and more than anything
// moves in a second.
const farthest = 1000

// near reports whether all that the key frame places is at places that the game has.
func (c *chunk) near() bool {
	f := &c.frames[0]
	ok := near(f.VR.Position) && near(f.Disc.Position) && near(f.Disc.Velocity)
	for t := range f.Teams {
		for i := range f.Teams[t].Players {
			for _, pose := range f.Teams[t].Players[i].Poses {
				ok = ok && near(pose.Position)
			}
		}
	}
	return ok
}

func near(v echovr.Vec3) bool {
	for _, x := range v {
		if !(x > -farthest && x < farthest) {
			return false
		}
	}
	return true
}

// damage returns the problem of a chunk that decompressed, or nil.
func (c *chunk) damage(interval int, last bool) *damage {
	switch {
	case c.failed != nil:
		at := int64(c.parsed)
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
func sizeOf(f *echovr.Frame) int64 {
	n := int64(unsafe.Sizeof(*f)) + int64(len(f.Bones))*int64(unsafe.Sizeof(echovr.Bones{}))
	for t := range f.Teams {
		n += int64(len(f.Teams[t].Players)) * int64(unsafe.Sizeof(echovr.Player{}))
	}
	return n
}

// decode decodes chunk n from its bytes, under the map of the file or, if the recorder has changed
// the map without starting a new file, under the one that fits (docs/formats/butter.md section 11).
func (r *Reader) decode(n int, data []byte, whole bool, from carry) *chunk {
	kind, last := r.Header.kind(), n == len(r.Header.Chunks)-1
	u := newUsers(r.Header.Players)
	c := decodeChunk(r.Layout, kind, u, data, from, r.Header.Interval)
	if c.failed == nil || !whole {
		return c
	}
	for _, k := range []mapKind{arena, combat, other} {
		if k == kind {
			continue
		}
		if o := decodeChunk(r.Layout, k, u, data, from, r.Header.Interval); o.whole(r.Header.Interval, last) && !o.badRef {
			return o
		}
	}
	return c
}
