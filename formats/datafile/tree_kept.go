package datafile

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/nodes"
)

var _ nodes.Measured = pictureFile{}

// A picture is one that is drawn: that of the layer with this index, or one of these.
type picture int

const (
	collisionPicture picture = -1
	previewPicture   picture = -2
)

// A drawing is the PNG file of a picture as it is kept on disk.
type drawing struct {
	seal     formats.Seal
	external uint64 // what tells apart the external images that it was drawn with
	file     []byte
}

// keep makes p remember pictures in memory and on disk.
func (p *pictures) keep() {
	encode := func(d drawing) []byte { return d.encode() }
	p.drawings = cache.NewMemo(p.cache, p.load).Durable(p.keptName, encode, p.resume)
	p.sizes = cache.NewMemo(p.cache, func(ctx context.Context, id picture) (int64, int64, error) {
		const cost = 8
		d, err := p.drawings.Get(ctx, id)
		return int64(len(d.file)), cost, err
	})
}

// pictureVersion is raised when a picture of the same bytes would be another one.
const pictureVersion = 2

// keptName has the limit of data items, as a layer with a greater one is left out.
func (p *pictures) keptName(id picture) string {
	return p.src.IndexName(formatName, fmt.Sprintf("picture%d-%d-%d", pictureVersion, id, p.r.MaxData))
}

func (d drawing) cost() int64 { return int64(cap(d.file)) + formats.SealSize }

// load draws a picture. One that is not kept needs no seal, which takes a pass over the file.
func (p *pictures) load(ctx context.Context, id picture) (d drawing, cost int64, err error) {
	if p.keptName(id) != "" {
		if d.seal, err = p.seal(ctx); err != nil {
			return drawing{}, 0, err
		}
	}
	if d.external, err = p.externalSum(ctx, id); err != nil {
		return drawing{}, 0, err
	}
	drawn, err := p.draw(ctx, id)
	if err != nil {
		return drawing{}, 0, err
	}
	d.file, err = drawn.png(ctx)
	return d, d.cost(), err
}

// encode returns what is kept on disk.
//
//	| head | external varint | file blob |
func (d drawing) encode() []byte {
	w := indexfile.NewWriter(d.seal, indexfile.HeadSize+len(d.file)+20)
	w.Uint(d.external)
	w.Blob(d.file)
	return w.Bytes()
}

// resume uses a kept picture if it was drawn of the same bytes, with the same external images.
func (p *pictures) resume(ctx context.Context, id picture, saved []byte) (drawing, int64, error) {
	r, seal := indexfile.Open(formatName, saved)
	d := drawing{external: r.Uint(math.MaxUint64), file: r.Blob()}
	if err := r.Close(); err != nil {
		return drawing{}, 0, err
	}
	external, err := p.externalSum(ctx, id)
	if err != nil {
		return drawing{}, 0, err
	}
	if d.external != external || !bytes.HasPrefix(d.file, []byte(pngSignature)) {
		return drawing{}, 0, formats.ErrOther
	}
	d.seal, err = p.seal.same(ctx, p.src, seal)
	return d, d.cost(), err
}

// A sealer returns the seal of the file.
type sealer func(context.Context) (formats.Seal, error)

// same returns the seal for what was kept with an earlier one, or formats.ErrOther if the file has
// other bytes now.
func (s sealer) same(ctx context.Context, src formats.Input, kept formats.Seal) (formats.Seal, error) {
	if kept.Stamp.Same(src.Stamp) {
		return kept, nil
	}
	if cache.IsSavedOnly(ctx) { // reading the file takes too long
		return formats.Seal{}, formats.ErrOther
	}
	seal, err := s(ctx)
	if err == nil && (seal.Length != kept.Length || seal.Sum != kept.Sum) {
		err = formats.ErrOther
	}
	return seal, err
}

// A pictureFile is the PNG file of a picture, which is drawn to learn its size, too.
type pictureFile struct {
	*pictures
	id picture
}

// Size implements nodes.File.
func (f pictureFile) Size(ctx context.Context) (int64, error) { return f.sizes.Get(ctx, f.id) }

// Open implements nodes.File.
func (f pictureFile) Open(ctx context.Context) (nodes.Content, error) {
	size, err := f.Size(ctx)
	if err != nil {
		return nil, err
	}
	return nodes.Sized(size, func(ctx context.Context) ([]byte, error) {
		d, err := f.drawings.Get(ctx, f.id)
		return d.file, err
	}).Open(ctx)
}

// IsMeasured implements nodes.Measured.
func (f pictureFile) IsMeasured(ctx context.Context) bool {
	if _, ok := f.sizes.Peek(f.id); ok {
		return true
	}
	if f.keptName(f.id) == "" {
		return false
	}
	_, err := f.sizes.Get(cache.SavedOnly(ctx), f.id)
	return err == nil
}
