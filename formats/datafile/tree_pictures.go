package datafile

import (
	"bytes"
	"context"
	"image"
	"image/draw"
	"image/png"
	"io"
	"strings"

	"recfs/nodes"
)

// maxMapres is the greatest number of pixels of an external image.
const maxMapres = 1 << 24

// pictureFile returns a picture of the game layer whose size is known from
// the layer's dimensions.
func (t *tree) pictureFile(kind productKind, size func(width, height int64) int64) nodes.File {
	l := t.m.Game
	if err := t.r.checkContent(l); err != nil {
		return nodes.Failing(err)
	}
	n := size(l.dimensions())
	if err := t.r.checkDocument(l, n); err != nil {
		return nodes.Failing(err)
	}
	return nodes.Sized(n, func(ctx context.Context) ([]byte, error) {
		return t.made.Get(ctx, product{kind, 0})
	})
}

func (t *tree) collisionFile() nodes.File {
	return t.pictureFile(madeCollision, func(w, h int64) int64 { return pngSize(w, h, len(collisionPalette)) })
}

func (t *tree) previewFile() nodes.File {
	return t.pictureFile(madePreview, func(w, h int64) int64 {
		s := previewScale(w, h)
		return pngSize(w*s, h*s, 0)
	})
}

func (t *tree) collision(ctx context.Context) ([]byte, error) {
	tiles, err := t.tiles(ctx, t.m.Game)
	if err != nil {
		return nil, err
	}
	return drawCollision(tiles).png(), nil
}

// preview draws the plain tile layers. One that cannot be read is left out.
func (t *tree) preview(ctx context.Context) ([]byte, error) {
	game, err := t.tiles(ctx, t.m.Game)
	if err != nil {
		return nil, err
	}
	c := newCanvas(game.Width, game.Height)
	atlases := map[int32]atlas{}
	for i := range t.m.Layers {
		l := &t.m.Layers[i]
		if !t.m.inPreview(l, t.m.Game.Group) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := t.drawLayer(ctx, c, l, atlases)
		if err != nil && !isFault(err) {
			return nil, err
		}
	}
	return c.png(), nil
}

func (t *tree) drawLayer(ctx context.Context, c *canvas, l *Layer, atlases map[int32]atlas) error {
	tiles, err := t.tiles(ctx, l)
	if err != nil {
		return err
	}
	index := *l.at(tilesImageAt)
	a, ok := atlases[index]
	if !ok {
		if a, err = t.atlas(ctx, index, c.scale); err != nil {
			return err
		}
		atlases[index] = a
	}
	c.draw(tiles, a.tinted(l.ints[7:11]))
	return nil
}

// atlas returns the cells of an image of the map.
func (t *tree) atlas(ctx context.Context, index int32, scale int) (atlas, error) {
	if index == noImage {
		return plainAtlas(white, scale), nil
	}
	if index < 0 || int(index) >= len(t.m.Images) {
		return nil, fault("image", 0, "image %d does not exist", index)
	}
	o := &t.m.Images[index]
	if !o.embedded() {
		name, err := t.text(ctx, o.Name, &o.Element, maxName)
		if err != nil {
			return nil, err
		}
		if m := t.externalImage(name.orEmpty()); m != nil {
			return newAtlas(m, scale), nil
		}
		return plainAtlas(nameColor(name.orEmpty()), scale), nil
	}
	if err := t.r.checkImage(o, ""); err != nil {
		return nil, err
	}
	data, err := t.data.Get(ctx, int(o.Data))
	if err != nil {
		return nil, err
	}
	return newAtlas(o.decode(data), scale), nil
}

// externalImage returns an image of the mapres directory, nil if it is not
// there or no picture.
func (t *tree) externalImage(name string) *image.NRGBA {
	if t.mapres == nil || strings.ContainsAny(name, `/\`) {
		return nil
	}
	f, err := t.mapres.Open(name + ".png")
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
