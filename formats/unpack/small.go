package unpack

import (
	"context"
	"errors"
	"io"

	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// An inflated is the decompressed bytes of a small file.
type inflated struct {
	data   []byte
	damage *Damage
	more   bool // it is not small, data is empty
}

// smallRatio is how many bytes a file that is decompressed into memory at once
// may give for each of its own.
const smallRatio = 64

// maxInflated is how many bytes a file of so many may give to be held whole, if small are the most.
func maxInflated(small, stored int64) int64 { return min(small, smallRatio*stored+frameSize) }

// inflate decompresses a file that gives at most p.smallSize bytes.
func (p *Unpacker) inflate(ctx context.Context, k source.FileKey) (inflated, int64, error) {
	raw := source.NewReader(p.files, k)
	c, err := detect(ctx, raw, k.Version.Size)
	if err != nil {
		return inflated{}, 0, err
	}
	limit := maxInflated(p.smallSize, k.Version.Size)
	d := newDecoder(c, raw, k.Version.Size)
	var out []byte
	buf := make([]byte, frameSize)
	for {
		if err := ctx.Err(); err != nil {
			d.close(false)
			return inflated{}, 0, err
		}
		n, err := d.read(ctx, buf)
		out = append(out, buf[:n]...)
		if int64(len(out)) > limit {
			d.close(true)
			return inflated{more: true}, 256, nil
		}
		switch hurt := (*Damage)(nil); {
		case err == io.EOF:
			d.close(true)
			return inflated{data: out}, int64(cap(out)) + 256, nil
		case errors.As(err, &hurt):
			d.close(false)
			return inflated{data: out, damage: hurt}, int64(cap(out)) + 256, nil
		case err != nil:
			d.close(false)
			return inflated{}, 0, err
		}
	}
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

// An inflatedReader reads a small compressed file. It holds no bytes itself.
type inflatedReader struct {
	p *Unpacker
	k source.FileKey
}

func (r inflatedReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	w, err := r.p.inflated.GetFrom(ctx, r.k, r.p.inflate)
	if err != nil {
		return 0, err
	}
	return nodes.BytesContent(w.data).ReadAt(ctx, p, off)
}
