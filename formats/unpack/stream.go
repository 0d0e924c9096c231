package unpack

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

const (
	// maxSmall is up to which size a decompressed recording is held whole
	// in the cache, or less if the cache is small.
	maxSmall = 16 << 20

	// streamShare: from this part of maxSmall on, as it is stored, a format
	// that can is given a source that is not yet read to its end.
	streamShare = 8

	idleUnpacked = 20 * time.Second
)

// A Stream reads a large compressed file. It decompresses as far as is
// read, frame by frame, and writes the frames to a seekable copy in the disk
// cache, which serves what was read before, and everything once it is
// complete. A copy that was completed earlier, also by another process, is
// used as it is. Without a disk cache going back means to start again.
//
// A decompression nobody asks of for a while is given up, and a copy closed.
type Stream struct {
	p    *Unpacker
	c    Compression
	raw  nodes.ReaderAt
	v    source.Version
	name string        // of the copy in the disk cache
	good *formats.Seal // of a copy that is known to be of raw; nil: none is yet

	inMemory bool // no copy is made

	mu     sync.Mutex  // held while a frame is made
	size   int64       // UnknownSize until known
	hurt   *Damage     // behind the last byte
	failed error       // refused as a bomb
	dec    *decoder    // under way; nil: not
	ahead  chan made   // of the frame that dec is making meanwhile; nil: it rests
	next   int64       // frame that dec gives next
	part   *copyWriter // the copy under way; nil: none is made
	done   *copyFile   // the complete copy, if open
	timer  *time.Timer
}

func (p *Unpacker) newStream(ctx context.Context, c Compression, raw nodes.ReaderAt, v source.Version) (*Stream, error) {
	id, err := identity(ctx, c, raw, v)
	if err != nil {
		return nil, err
	}
	u := &Stream{p: p, c: c, raw: raw, v: v, name: "unpacked " + id, size: formats.UnknownSize}
	u.mu.Lock()
	defer u.unlock()
	if !u.openCopy(ctx) && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return u, nil
}

// identity names what a file decompresses to by its size and samples of its
// bytes, so that it keeps its copy when it is moved, linked or copied. Whether
// the rest of its bytes are those of the copy, isOf tells.
func identity(ctx context.Context, c Compression, raw nodes.ReaderAt, v source.Version) (string, error) {
	const samples, sample = 5, 4096
	h := sha256.New()
	fmt.Fprintln(h, c.Name, c.Stream, v.Size)
	b := make([]byte, min(sample, v.Size))
	for i := range int64(samples) {
		off := (v.Size - int64(len(b))) / (samples - 1) * i
		if i == samples-1 {
			off = v.Size - int64(len(b))
		}
		if _, err := raw.ReadAt(ctx, b, off); err != nil && err != io.EOF {
			return "", err
		}
		h.Write(b)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// frameKey is a frame of a large file.
type frameKey struct {
	u *Stream
	i int64
}

func (p *Unpacker) loadFrame(ctx context.Context, k frameKey) ([]byte, int64, error) {
	b, err := k.u.frame(ctx, k.i)
	return b, int64(cap(b)) + 128, err
}

// ReadAt reads decompressed bytes.
func (u *Stream) ReadAt(ctx context.Context, p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, os.ErrInvalid
	}
	for n < len(p) {
		at := off + int64(n)
		b, err := u.p.frames.Get(ctx, frameKey{u, at / frameSize})
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

// known returns the size if it is known.
func (u *Stream) known() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.size
}

// length returns the size, decompressing to the end if it must.
func (u *Stream) length(ctx context.Context) (int64, error) {
	for {
		if size, err := u.step(ctx); size != formats.UnknownSize || err != nil {
			return size, err
		}
	}
}

// step decompresses one frame on the way to the end.
func (u *Stream) step(ctx context.Context) (int64, error) {
	u.mu.Lock()
	defer u.unlock()
	if u.size != formats.UnknownSize {
		return u.size, nil
	}
	if err := ctx.Err(); err != nil {
		return formats.UnknownSize, err
	}
	_, err := u.advance(ctx)
	return u.size, err
}

// Damaged returns the damage at the end, if there is any.
func (u *Stream) Damaged(ctx context.Context) (*Damage, error) {
	_, err := u.length(ctx)
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.hurt, err
}

// frame returns frame i; behind the end it is empty.
func (u *Stream) frame(ctx context.Context, i int64) ([]byte, error) {
	u.mu.Lock()
	defer u.unlock()
	if u.size != formats.UnknownSize && i*frameSize >= u.size {
		return nil, nil
	}
	if b, ok := u.stored(ctx, i); ok {
		return b, nil
	}
	if i == 0 && u.dec == nil && u.size == formats.UnknownSize {
		return u.first(ctx)
	}
	if u.dec != nil && i < u.next {
		u.giveUp()
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at := u.next
		b, err := u.advance(ctx)
		if at == i || err != nil {
			return b, err
		}
		if u.dec == nil { // the end came before
			return nil, nil
		}
	}
}

// stored returns frame i from the copy, as far as it was made. The caller
// holds mu, as for all below.
func (u *Stream) stored(ctx context.Context, i int64) ([]byte, bool) {
	if u.part != nil {
		return u.part.frame(i)
	}
	if u.dec != nil || u.done == nil && !u.openCopy(ctx) {
		return nil, false
	}
	b := make([]byte, min(frameSize, u.size-i*frameSize))
	if _, err := u.done.r.ReadAt(b, i*frameSize); err != nil && err != io.EOF {
		u.p.log.Warn("cache file is damaged and is made again", "path", u.done.f.Name(), "err", err)
		if info, err := u.done.f.Stat(); err == nil {
			u.p.disk.Remove(u.name, info)
		}
		u.closeCopy()
		return nil, false
	}
	return b, true
}

// first returns frame 0 without beginning a copy: often no more is asked for.
func (u *Stream) first(ctx context.Context) ([]byte, error) {
	d := u.p.newDecoder(u.c, u.raw, u.v.Size)
	b := make([]byte, frameSize)
	n, err := d.read(ctx, b)
	switch hurt := (*Damage)(nil); {
	case err == io.EOF:
		u.size = int64(n)
	case errors.As(err, &hurt):
		u.size, u.hurt = int64(n), hurt
	case err != nil:
		d.close(false)
		return nil, err
	}
	d.close(u.hurt == nil)
	return b[:n], nil
}

// advance makes the next frame. Behind the last one dec is nil.
func (u *Stream) advance(ctx context.Context) ([]byte, error) {
	if u.failed != nil {
		return nil, u.failed
	}
	if u.dec == nil {
		raw := formats.NewTally(u.raw)
		u.dec, u.next = u.p.newDecoder(u.c, raw, u.v.Size), 0
		if !u.inMemory {
			u.part = newCopyWriter(u.p.disk, u.name, raw)
		}
	}
	if u.ahead == nil {
		u.ahead = u.make(ctx)
	}
	m := <-u.ahead
	u.ahead = nil
	b, err := m.b, m.err
	hurt := (*Damage)(nil)
	if err != nil && err != io.EOF && !errors.As(err, &hurt) {
		u.giveUp()
		return nil, err
	}
	if refused := bomb(u.dec.out, u.v.Size); refused != nil {
		u.failed = &formats.Error{Format: u.c.Name, Offset: u.dec.out, Err: refused}
		u.giveUp()
		return nil, u.failed
	}
	if err == nil { // the next frame can be made while this one is kept and used
		u.ahead = u.make(context.WithoutCancel(ctx))
	}
	if len(b) > 0 {
		u.next++
		u.keep(b)
	}
	if err != nil {
		u.finish(hurt)
	}
	return b, nil
}

// A made is a frame that was decompressed.
type made struct {
	b   []byte
	err error
}

// make decompresses the next frame in the background.
func (u *Stream) make(ctx context.Context) chan made {
	done := make(chan made, 1)
	go func(d *decoder) {
		b := make([]byte, frameSize)
		n, err := d.read(ctx, b)
		done <- made{b[:n], err}
	}(u.dec)
	return done
}

// keep adds a frame to the copy. Without a disk cache, or if there is no
// room in it, there is no copy.
func (u *Stream) keep(b []byte) {
	if u.part == nil {
		return
	}
	if err := u.part.add(b); err != nil {
		u.part.discard()
		u.part = nil
	}
}

// finish notes the end of the stream and completes the copy.
func (u *Stream) finish(hurt *Damage) {
	u.size, u.hurt = u.dec.out, hurt
	u.closeDecoder(hurt == nil)
	if u.part != nil {
		u.done = u.part.commit(u.size, hurt, u.v.Stamp)
		u.part = nil
		if u.done != nil {
			u.good = &u.done.seal
		}
	}
}

// giveUp forgets a decompression under way.
func (u *Stream) giveUp() {
	if u.ahead != nil {
		<-u.ahead
		u.ahead = nil
	}
	if u.dec != nil {
		u.closeDecoder(false)
	}
	if u.part != nil {
		u.part.discard()
		u.part = nil
	}
}

func (u *Stream) closeDecoder(sound bool) {
	u.dec.close(sound)
	u.dec, u.next = nil, 0
	u.p.memory.gone(u)
}

// yield gives up a decompression that nobody asks of at this moment, and tells
// whether there was one. It waits for nothing.
func (u *Stream) yield() bool {
	if !u.mu.TryLock() {
		return false
	}
	defer u.mu.Unlock()
	if u.dec == nil || u.ahead != nil && len(u.ahead) == 0 {
		return false
	}
	u.giveUp()
	return true
}

// unlock releases mu, and sees to it that nothing is held open for long.
func (u *Stream) unlock() {
	if u.dec != nil {
		u.p.memory.rest(u)
	}
	if u.dec != nil || u.done != nil {
		if u.timer == nil {
			u.timer = time.AfterFunc(idleUnpacked, u.idle)
		} else {
			u.timer.Reset(idleUnpacked)
		}
	}
	u.mu.Unlock()
}

func (u *Stream) idle() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.giveUp()
	u.closeCopy()
}
