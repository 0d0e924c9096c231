package unpack

import (
	"context"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// Head returns the first decompressed bytes of a file that begins with stored,
// none if it is not compressed.
func (p *Unpacker) Head(ctx context.Context, k source.FileKey, stored []byte) ([]byte, error) {
	c, ok := compressionOf(stored)
	if !ok {
		return nil, nil
	}
	d := p.newDecoder(c, source.NewReader(p.files, k.Path, k.Version), k.Version.Size)
	defer d.close(true)
	b := make([]byte, formats.HeadSize)
	n, err := d.read(ctx, b)
	if d.raw.Err != nil || err != nil && ctx.Err() != nil {
		return nil, err
	}
	return b[:n], nil
}

// A Content is what a compressed file decompresses to.
type Content struct {
	nodes.ReaderAt
	Size    int64                                // or formats.UnknownSize
	Measure func(context.Context) (int64, error) // returns the size, reading to the end; nil: it is known
	Damage  DamageFunc                           // may read to the end
}

// A ReadError is a failed read of a file, as against one whose bytes make no
// sense.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the read.
func (e *ReadError) Unwrap() error { return e.Err }

// A Choice is what can be chosen for a file.
type Choice struct {
	Streams  bool // its size need not be known: a large one is not read to its end
	Distrust bool // of its seek table, see Unpacker.Distrusts
}

// Open returns what a file decompresses to. raw reads the same file, and hears
// of what fails in reading it, unless the error is a *ReadError.
func (p *Unpacker) Open(ctx context.Context, k source.FileKey, raw nodes.ReaderAt, how Choice) (Content, error) {
	size := k.Version.Size
	c, err := detect(ctx, raw, size)
	if err != nil {
		return Content{}, err
	}
	if c.Name == "zstd" && !how.Distrust {
		if s := p.openSeekable(ctx, raw, size, func() { p.distrust(k) }); s != nil {
			return Content{ReaderAt: s, Size: s.size, Damage: undamaged}, nil
		}
	}
	streams := how.Streams && size > p.smallSize/streamShare
	if !streams && p.mayBeSmall(size) {
		w, err := p.inflated.Get(ctx, k)
		if err != nil {
			return Content{}, &ReadError{err}
		}
		if !w.more {
			return p.openSmall(k, w)
		}
	}
	u, err := p.newStream(ctx, c, raw, k.Version)
	if err != nil {
		return Content{}, err
	}
	out := Content{ReaderAt: u, Size: u.known(), Damage: u.Damaged}
	switch {
	case out.Size != formats.UnknownSize:
	case streams:
		out.Measure = u.length
	case cache.IsSavedOnly(ctx):
		return Content{Damage: undamaged}, &cache.NotSavedError{Name: u.name}
	default:
		out.Size, err = u.length(ctx)
	}
	return out, err
}

// openSmall returns what a file decompresses to that is held in memory.
func (p *Unpacker) openSmall(k source.FileKey, w inflated) (Content, error) {
	out := Content{ReaderAt: inflatedReader{p, k}, Size: int64(len(w.data)), Damage: undamaged}
	if d := w.damage; d != nil && len(w.data) == 0 {
		return out, &formats.Error{Format: d.Compression, Offset: 0, Err: d} // which says all
	}
	out.Damage = func(context.Context) (*Damage, error) { return w.damage, nil }
	return out, nil
}

// mayBeSmall tells whether it is worth trying to hold a file decompressed in
// memory: with a disk cache not if it would have to be started again.
func (p *Unpacker) mayBeSmall(stored int64) bool {
	if p.disk == nil {
		return stored <= p.smallSize
	}
	return stored <= p.smallSize/4
}

// A DamageFunc reports whether a compressed stream is damaged; nil: it is not.
type DamageFunc func(context.Context) (*Damage, error)

func undamaged(context.Context) (*Damage, error) { return nil, nil }
