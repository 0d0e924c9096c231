package datafile

import (
	"context"
	"fmt"
	"hash/fnv"
	"image"
	"maps"
	"slices"

	"recfs/formats"
)

// load draws a picture.
func (p *pictures) load(ctx context.Context, id picture) (d drawing, err error) {
	if d.external, err = p.externalSum(ctx, id); err != nil {
		return d, err
	}
	drawn, err := p.draw(ctx, id)
	if err != nil {
		return d, err
	}
	d.file, err = drawn.png(ctx)
	return d, err
}

// draw draws a picture.
func (p *pictures) draw(ctx context.Context, id picture) (*raster, error) {
	if id == previewPicture {
		return p.preview(ctx)
	}
	l := p.m.Game
	if id != collisionPicture {
		l = &p.m.Layers[id]
	}
	tiles, err := p.tiles(ctx, l)
	if err != nil {
		return nil, err
	}
	scale, rows := p.scale(l), &rows{Tiles: tiles}
	switch {
	case id == collisionPicture:
		drawn := drawColors(rows, 1)
		drawn.palette = collisionPalette
		return drawn, nil
	case l.Kind != KindTiles:
		return drawColors(rows, scale), nil
	}
	a, err := p.atlas(ctx, *l.Tiles.Image, scale)
	if err != nil {
		return nil, err
	}
	return drawAlone(rows, a.tinted(l.Tiles.Color), scale), nil
}

// atlas returns the cells of an image of the map.
func (p *pictures) atlas(ctx context.Context, index int32, scale int) (atlas, error) {
	if index == noImage {
		return plainAtlas(white, scale), nil
	}
	m, held, err := p.image(ctx, index)
	defer held.Free()
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		external, err := p.external(ctx)
		return plainAtlas(nameColor(external[index].name), scale), err
	}
	return newAtlas(m, scale), nil
}

// image returns the pixels of an image of the map, held as long as they are used: nil for an
// external image that is not at hand.
func (p *pictures) image(ctx context.Context, index int32) (*image.NRGBA, *formats.Held, error) {
	if index < 0 || int(index) >= len(p.m.Images) {
		return nil, nil, fault("image", 0, "image %d does not exist", index)
	}
	o := &p.m.Images[index]
	if o.Short || o.External {
		external, err := p.external(ctx)
		if err != nil {
			return nil, nil, err
		}
		m, held, err := external[index].decode(ctx)
		if err != nil && !formats.IsShort(err) {
			p.forget()
		}
		return m, held, err
	}
	if err := p.r.checkImage(o, "", nil); err != nil {
		return nil, nil, err
	}
	t, err := p.pixels(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	defer t.held.Free()
	held, err := formats.Charge(ctx, 0)
	if err != nil {
		return nil, held, err
	}
	m, err := t.texels(ctx, held)
	return m, held, err
}

// externalSum is a checksum of the names and versions of the external images in a picture.
func (p *pictures) externalSum(ctx context.Context, id picture) (uint64, error) {
	if id == collisionPicture || id >= 0 && p.m.Layers[id].Kind != KindTiles {
		return 0, nil
	}
	external, err := p.external(ctx)
	if err != nil {
		return 0, err
	}
	if id >= 0 {
		if x := external[*p.m.Layers[id].Tiles.Image]; x != nil {
			return x.sum, nil
		}
		return 0, nil
	}
	sum := fnv.New64a()
	for _, i := range slices.Sorted(maps.Keys(external)) {
		_, _ = fmt.Fprintln(sum, i, external[i].sum)
	}
	return sum.Sum64(), nil
}
