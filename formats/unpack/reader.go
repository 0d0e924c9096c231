package unpack

import (
	"context"
	"errors"
	"io"
	"os"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// A Stream reads a compressed file, or a member of a container. It holds nothing: what is open for
// it is closed when nobody reads it for a while, and opened again.
type Stream struct {
	p *Unpacker
	packedFile
}

// Expand returns a reader of what c makes of raw: the stored bytes of a member at a version, which
// should give size bytes. The key names the member like no other file.
func (p *Unpacker) Expand(k source.FileKey, content *formats.Content, c Compression, raw nodes.ReaderAt, size int64) *Stream {
	f := packedFile{k, content, c, raw, size, 0}
	if size <= p.smallSize {
		f.content, f.small = nil, p.smallSize
	}
	return &Stream{p, f}
}

// Open returns what the stream gives like Unpacker.Open. Its errors are those of reading, of which
// raw does not hear if it is not what the shared stream reads.
func (r *Stream) Open(ctx context.Context, streams bool) (Content, error) {
	var err error
	if r.small > 0 {
		_, err = r.toEnd(ctx, false)
	}
	missing := &cache.NotSavedError{}
	if err == nil && r.known() == nil {
		err = r.use(ctx, func(s *stream) error { // which a copy tells the end
			if s.copies != nil {
				missing.Name = s.copies.place.Find(ctx).Await
			}
			return nil
		})
	}
	if err != nil {
		return Content{}, &ReadError{err}
	}
	out := Content{ReaderAt: r, Damage: r.Damaged}
	switch e := r.known(); {
	case e != nil:
		out.Size = e.size
	case streams:
		out.Size, out.Measure = formats.UnknownSize, r.length
	case cache.IsSavedOnly(ctx):
		return Content{Damage: undamaged}, missing
	default:
		if out.Size, err = r.length(ctx); err != nil {
			err = &ReadError{err}
		}
	}
	return out, err
}

// copyShare: from this part of what is held in memory on, as it is stored, a copy of a file is
// looked for before the file is decompressed, which takes longer than that then.
const copyShare = 64

// frameCost is what a frame counts for in the cache besides its bytes.
const frameCost = 128

// use calls do with the stream that all readers of the file share. One that could not read the file
// is not kept: the next one has another reader of it.
func (r *Stream) use(ctx context.Context, do func(*stream) error) error {
	s, err := r.p.streams.Acquire(ctx, r.key, func(ctx context.Context) (*stream, error) {
		s := &stream{
			packedFile: r.packedFile, copies: newStore(r.p.disk, r.p.log, r.packedFile), ahead: !r.p.nested && r.c.Window > 0,
			frames: r.p.frames, ends: r.p.ends, lost: r.p.lost, turn: make(chan struct{}, 1),
		}
		s.end, _ = s.ends.Get(s.key)
		if r.small > 0 && r.key.Version.Size <= r.p.smallSize/copyShare || !s.openCopy(ctx) {
			return s, ctx.Err()
		}
		return s, nil
	})
	if err != nil {
		return err
	}
	err = do(s.Value)
	if _, failed := errors.AsType[*ReadError](err); failed {
		s.Discard()
	} else {
		s.Release()
	}
	return err
}

// frame returns frame i; behind the end it is empty.
func (r *Stream) frame(ctx context.Context, i int64) ([]byte, error) {
	return r.p.frames.GetFrom(ctx, frameKey{r.key, i}, func(ctx context.Context, _ frameKey) (b []byte, cost int64, err error) {
		err = r.use(ctx, func(s *stream) error {
			b, err = s.frame(ctx, i)
			return err
		})
		b = kept(b)
		return b, int64(cap(b)) + frameCost, err
	})
}

// ReadAt reads decompressed bytes.
func (r *Stream) ReadAt(ctx context.Context, p []byte, off int64) (n int, err error) {
	if off == 0 && r.small > 0 && r.size >= 0 && r.size <= min(maxWhole, int64(len(p))) {
		if n, ok, err := r.whole(ctx, p[:r.size]); ok || cache.IsShort(err) {
			return n, err
		}
	}
	return readFrames(ctx, p, off, r.frame)
}

// maxWhole is how long a stream is that is decompressed where it is read: as long as what a mount
// reads at once.
const maxWhole = 256 << 10

// whole reads all of a short stream at once, and keeps nothing of it but how it ends: a reader that
// has all of it does not come back for a part. It is not ok where that is not as many bytes as
// there should be.
func (r *Stream) whole(ctx context.Context, p []byte) (n int, ok bool, err error) {
	if b, made := r.p.frames.Peek(frameKey{r.key, 0}); made && len(b) == len(p) {
		return copy(p, b), true, io.EOF
	}
	c := r.c
	if c.Window <= deflateWindow {
		c.First, c.Window = 0, 0 // with a short input it is too little to count
	}
	d := newDecoder(c, r.raw, r.key.Version.Size, frameSize)
	n, err = d.read(ctx, p)
	if n == len(p) && err == nil {
		_, err = d.read(ctx, make([]byte, 1))
	}
	e := endOf(d.out, err)
	d.close(e != nil && e.hurt == nil)
	if e == nil || e.size != r.size {
		return 0, false, err
	}
	r.p.ends.Swap(r.key, e)
	return n, true, io.EOF
}

// readFrames is ReadAt for bytes that come in frames; behind the end they are empty.
func readFrames(ctx context.Context, p []byte, off int64, frame func(context.Context, int64) ([]byte, error)) (n int, err error) {
	if off < 0 {
		return 0, os.ErrInvalid
	}
	for n < len(p) {
		at := off + int64(n)
		b, err := frame(ctx, at/frameSize)
		if err != nil {
			return n, err
		}
		if at%frameSize >= int64(len(b)) {
			return n, io.EOF
		}
		n += copy(p[n:], b[at%frameSize:])
	}
	return n, nil
}

// known returns the end if it was come to before.
func (r *Stream) known() *end {
	e, _ := r.p.ends.Get(r.key)
	return e
}

// toEnd returns the end, decompressing up to there if it must. Unless all is true it goes no
// farther than it takes to know that the stream is not held in memory, and returns nil then. Where
// it is a request of its own that begins again for want of memory, it goes on from where the shared
// stream is by then.
func (r *Stream) toEnd(ctx context.Context, all bool) (*end, error) {
	if e := r.known(); e != nil {
		return e, nil
	}
	if r.small > 0 { // most of these end in their first frame, which is read next
		if _, err := r.frame(ctx, 0); err != nil {
			return nil, err
		}
		if e := r.known(); e != nil {
			return e, nil
		}
	}
	var e *end
	err := r.p.cache.Do(ctx, 0, func(ctx context.Context) error {
		return r.use(ctx, func(s *stream) (err error) {
			more := true
			for e = nil; e == nil && err == nil && more; {
				e, more, err = s.step(ctx)
				more = more || all
			}
			return err
		})
	})
	return e, err
}

// length returns the size, decompressing to the end if it must.
func (r *Stream) length(ctx context.Context) (int64, error) {
	e, err := r.toEnd(ctx, true)
	if err != nil {
		return 0, err
	}
	return e.size, nil
}

// Damaged returns the damage at the end, if there is any.
func (r *Stream) Damaged(ctx context.Context) (*Damage, error) {
	e, err := r.toEnd(ctx, true)
	if err != nil {
		return nil, err
	}
	return e.hurt, nil
}

// First fills b with the first bytes like Unpacker.First.
func (r *Stream) First(ctx context.Context, b []byte) (int, error) {
	return r.p.First(ctx, r.c, r.raw, r.key.Version.Size, b)
}

// First fills b with the first bytes of what c makes of the size bytes of raw, as far as there are
// any. The error is io.EOF after the last byte of a sound stream, or a *Damage, or a failed read.
func (p *Unpacker) First(ctx context.Context, c Compression, raw nodes.ReaderAt, size int64, b []byte) (int, error) {
	n := 0
	err := p.cache.Do(ctx, 0, func(ctx context.Context) (err error) {
		d := newDecoder(c, raw, size, firstInput)
		defer d.close(true)
		n, err = d.read(ctx, b)
		return err
	})
	return n, err
}
