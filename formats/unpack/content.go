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
	r := &Stream{p, packedFile{k, how.Content, c, raw, formats.UnknownSize, p.inMemory(size, how)}}
	if c.Name == Zstd.Name {
		if s := p.openSeekable(ctx, r); s != nil && s.size > r.small {
			return s.open(ctx, how)
		}
	}
	out, err := r.Open(ctx, how.Streams)
	if e := r.known(); err == nil && e != nil && e.size == 0 && e.hurt != nil { // which says all
		out.Damage, err = undamaged, &formats.Error{Format: e.hurt.Compression, Offset: 0, Err: e.hurt}
	}
	return out, err
}

// inMemory returns how many bytes a file of so many stored ones may give to be held in memory. It
// is 0 where that is not tried: with a disk cache it would often have to be started again.
func (p *Unpacker) inMemory(stored int64, how Choice) int64 {
	share := int64(4)
	switch {
	case how.Listed && p.disk != nil:
		share = listedShare
	case how.Streams && !how.Listed:
		share = streamShare
	case p.disk == nil:
		share = 1
	}
	if stored > p.smallSize/share {
		return 0
	}
	return maxInflated(p.smallSize, stored)
}
