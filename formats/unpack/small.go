package unpack

import (
	"context"
	"io"
	"slices"

	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// A small is a compressed file that is held whole in the cache. It holds no bytes itself.
type small struct {
	p *Unpacker
	packedFile
}

// get returns the decompressed bytes.
func (s small) get(ctx context.Context) (smallContent, error) {
	return s.p.inflated.GetFrom(ctx, s.key, func(ctx context.Context, k source.FileKey) (smallContent, int64, error) {
		w, err := s.inflate(ctx, maxInflated(s.p.smallSize, k.Version.Size))
		return w, int64(cap(w.data)) + 256, err
	})
}

// inflate decompresses what gives at most limit bytes.
func (s small) inflate(ctx context.Context, limit int64) (smallContent, error) {
	d := newDecoder(s.c, s.raw, s.key.Version.Size, inputSize)
	var frames [][]byte
	defer func() {
		for _, b := range frames {
			dropFrame(b)
		}
	}()
	for {
		b := newFrame()
		n, err := d.read(ctx, b[:frameSize])
		frames = append(frames, b[:n])
		size := int64(len(frames)-1)*frameSize + int64(n)
		e := endOf(size, err)
		if err == nil {
			err = ctx.Err()
		}
		if e != nil || err != nil || size > limit {
			d.close(size > limit || e != nil && e.hurt == nil)
		}
		switch {
		case size > limit:
			return smallContent{more: true}, nil
		case e != nil:
			return smallContent{data: slices.Concat(frames...), damage: e.hurt}, nil
		case err != nil:
			return smallContent{}, err
		}
	}
}

// ReadAt reads decompressed bytes.
func (s small) ReadAt(ctx context.Context, b []byte, off int64) (int, error) {
	w, err := s.get(ctx)
	if err != nil {
		return 0, err
	}
	return nodes.BytesContent(w.data).ReadAt(ctx, b, off)
}

// detect tells how the file raw is compressed.
func detect(ctx context.Context, raw nodes.ReaderAt, size int64) (Compression, error) {
	head := make([]byte, min(8, size))
	if _, err := raw.ReadAt(ctx, head, 0); err != nil && err != io.EOF {
		return Compression{}, err
	}
	if c, ok := compressionOf(head); ok {
		return c, nil
	}
	if size == 0 {
		return Compression{}, formats.Reasonf(io.ErrUnexpectedEOF, "the file is empty")
	}
	return Compression{}, formats.Reasonf(formats.ErrCorrupt, "it is neither xz, zstd, gzip nor bzip2, which its name says")
}
