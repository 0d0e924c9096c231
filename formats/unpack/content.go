package unpack

import (
	"context"

	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// Head returns the first decompressed bytes of a file that begins with stored, none if it is not
// compressed, and the damage that is behind them, if there is any.
func (p *Unpacker) Head(ctx context.Context, k source.FileKey, stored []byte) ([]byte, *Damage, error) {
	c, ok := compressionOf(stored)
	if !ok {
		return nil, nil, nil
	}
	b := make([]byte, formats.HeadSize)
	n, err := p.First(ctx, c, source.NewReader(p.files, k), k.Version.Size, b)
	if err == nil {
		return b[:n], nil, nil
	}
	e := endOf(0, err)
	if e == nil {
		return nil, nil, err
	}
	return b[:n], e.hurt, nil
}

const (
	// streamShare: from this part of maxSmall on, as it is stored, a format
	// that can is given a source that is not yet read to its end.
	streamShare = 8

	// copyShare: from this part of it on, a copy is looked for before the file is decompressed, which
	// takes longer than that then.
	copyShare = 64

	// listedShare: up to this part of it, as it is stored, a container is held in memory beside a
	// disk cache, where a copy serves reads of a member here and there.
	listedShare = 256
)

// Open returns what a file decompresses to. raw reads the same file, and hears
// of what fails in reading it, unless the error is a *ReadError.
func (p *Unpacker) Open(ctx context.Context, k source.FileKey, raw nodes.ReaderAt, how Choice) (Content, error) {
	size := k.Version.Size
	c, err := detect(ctx, raw, size)
	if err != nil {
		return Content{}, err
	}
	f := packedFile{k, how.Content, c, raw, formats.UnknownSize}
	large, maySmall := &Stream{p: p, packedFile: f}, p.mayBeSmall(size, how)
	if c.Name == Zstd.Name {
		if s := p.openSeekable(ctx, large); s != nil && (!maySmall || s.size > maxInflated(p.smallSize, size)) {
			return s.open(ctx, how)
		}
	}
	if maySmall && p.disk != nil && size > p.smallSize/copyShare {
		_, missing, err := large.saved(ctx)
		maySmall = missing != nil || err != nil
	}
	if !maySmall {
		return large.openLarge(ctx, how.Streams)
	}
	s := small{p, f}
	w, err := s.get(ctx)
	switch {
	case err != nil:
		return Content{}, &ReadError{err}
	case w.more:
		return large.openLarge(ctx, how.Streams)
	}
	return s.open(w)
}

// open returns what a file decompresses to that is held in memory.
func (s small) open(w smallContent) (Content, error) {
	out := Content{ReaderAt: s, Size: int64(len(w.data)), Damage: undamaged}
	if d := w.damage; d != nil && len(w.data) == 0 {
		return out, &formats.Error{Format: d.Compression, Offset: 0, Err: d} // which says all
	}
	out.Damage = func(context.Context) (*Damage, error) { return w.damage, nil }
	return out, nil
}

// mayBeSmall tells whether it is worth trying to hold a file decompressed in
// memory: with a disk cache not if it would have to be started again.
func (p *Unpacker) mayBeSmall(stored int64, how Choice) bool {
	share := int64(4)
	switch {
	case how.Listed && p.disk != nil:
		share = listedShare
	case how.Streams && !how.Listed:
		share = streamShare
	case p.disk == nil:
		share = 1
	}
	return stored <= p.smallSize/share
}
