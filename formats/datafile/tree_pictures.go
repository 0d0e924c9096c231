package datafile

import (
	"bytes"
	"context"
	"image"
	"image/draw"
	"image/png"
	"io"
	iofs "io/fs"
	"strings"

	"recfs/nodes"
)

// maxMapres is the greatest number of pixels of an external image.
const maxMapres = 1 << 24

// pictures are drawn from the layers of a map with a game layer.
type pictures struct {
	*view
	mapres iofs.FS
}

// file returns a picture of the game layer whose size is known from the layer's dimensions.
func (p pictures) file(size func(width, height int64) int64, draw func(context.Context) ([]byte, error)) nodes.File {
	l := p.m.Game
	if err := p.r.checkContent(l); err != nil {
		return nodes.Failing(err)
	}
	n := size(l.dimensions())
	if err := p.r.checkDocument(l, n); err != nil {
		return nodes.Failing(err)
	}
	drawn := newContents(p.cache, func(ctx context.Context, _ int) ([]byte, error) { return draw(ctx) })
	return nodes.Sized(n, func(ctx context.Context) ([]byte, error) { return drawn.Get(ctx, 0) })
}

func (p pictures) collisionFile() nodes.File {
	return p.file(func(w, h int64) int64 { return pngSize(w, h, len(collisionPalette)) }, p.collision)
}

func (p pictures) previewFile() nodes.File {
	return p.file(func(w, h int64) int64 {
		s := previewScale(w, h)
		return pngSize(w*s, h*s, 0)
	}, p.preview)
}

func (p pictures) collision(ctx context.Context) ([]byte, error) {
	tiles, err := p.tiles(ctx, p.m.Game)
	if err != nil {
		return nil, err
	}
	return drawCollision(tiles).png(), nil
}

// preview draws the plain tile layers. One that cannot be read is left out.
func (p pictures) preview(ctx context.Context) ([]byte, error) {
	game, err := p.tiles(ctx, p.m.Game)
	if err != nil {
		return nil, err
	}
	c := newCanvas(game.Width, game.Height)
	atlases := map[int32]atlas{}
	for i := range p.m.Layers {
		l := &p.m.Layers[i]
		if !p.m.inPreview(l, p.m.Game.Group) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := p.drawLayer(ctx, c, l, atlases)
		if err != nil && !isFault(err) {
			return nil, err
		}
	}
	return c.png(), nil
}

func (p pictures) drawLayer(ctx context.Context, c *canvas, l *Layer, atlases map[int32]atlas) error {
	if err := p.r.checkContent(l); err != nil {
		return err
	}
	tiles, err := p.tiles(ctx, l)
	if err != nil {
		return err
	}
	index := *l.Tiles.Image
	a, ok := atlases[index]
	if !ok {
		if a, err = p.atlas(ctx, index, c.scale); err != nil {
			return err
		}
		atlases[index] = a
	}
	c.draw(tiles, a.tinted(l.Tiles.Color))
	return nil
}

// atlas returns the cells of an image of the map.
func (p pictures) atlas(ctx context.Context, index int32, scale int) (atlas, error) {
	if index == noImage {
		return plainAtlas(white, scale), nil
	}
	if index < 0 || int(index) >= len(p.m.Images) {
		return nil, fault("image", 0, "image %d does not exist", index)
	}
	o := &p.m.Images[index]
	if o.Short || o.External {
		name, err := p.text(ctx, o.Name, &o.Element, maxName)
		if err != nil {
			return nil, err
		}
		if m := p.externalImage(name.bytes()); m != nil {
			return newAtlas(m, scale), nil
		}
		return plainAtlas(nameColor(name.bytes()), scale), nil
	}
	if err := p.r.checkImage(o, ""); err != nil {
		return nil, err
	}
	data, err := p.data.Get(ctx, int(o.Data))
	if err != nil {
		return nil, err
	}
	return newAtlas(o.decode(data), scale), nil
}

// externalImage returns an image of the mapres directory, nil if it is not there or no picture.
func (p pictures) externalImage(name string) *image.NRGBA {
	if p.mapres == nil || strings.ContainsAny(name, `/\`) {
		return nil
	}
	f, err := p.mapres.Open(name + ".png")
	if err != nil {
		return nil
	}
	defer f.Close()
	return decodeMapres(f)
}

// decodeMapres reads a PNG file of bounded size.
func decodeMapres(r io.Reader) *image.NRGBA {
	b, err := io.ReadAll(io.LimitReader(r, 4*maxMapres))
	if err != nil {
		return nil
	}
	config, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil || int64(config.Width)*int64(config.Height) > maxMapres {
		return nil
	}
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	if same, ok := m.(*image.NRGBA); ok {
		return same
	}
	out := image.NewNRGBA(m.Bounds())
	draw.Draw(out, out.Rect, m, m.Bounds().Min, draw.Src)
	return out
}
