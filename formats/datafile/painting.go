package datafile

import (
	"context"

	"recfs/formats"
)

// A painting is a preview that is drawn band by band: of each band the sky, and then the plain tile
// layers. A layer that cannot be read is left out.
type painting struct {
	*pictures
	canvas  *canvas
	layers  []*Layer // of tiles
	first   int      // the group of the first of them
	atlases map[int32]atlas
	open    map[int]*rows // layers that are read on from band to band
	damaged map[int]bool
}

// How many atlases and streams are kept at a time. A map may have 65536 layers, each with an image
// of its own.
const (
	maxAtlases = 8
	maxStreams = 16
)

// preview draws the map.
func (p *pictures) preview(ctx context.Context) (*raster, error) {
	game, err := p.tiles(ctx, p.m.Game)
	if err != nil {
		return nil, err
	}
	game.held.Free()
	w, h := p.m.Game.dimensions()
	s := previewScale(w, h)
	size, band, layers := w*h*s*s*bytesPerPixel, min(maxBand, p.large), p.m.previewed()
	made := bandSize(w, h, band) + int64(min(maxAtlases, len(p.m.Images)+1)+1)*atlasBytes(s)
	if err := formats.Claim(ctx, made+pngMemory(size/pngRatio)+p.openStreams(layers)); err != nil {
		return nil, err
	}
	if _, err := formats.Charge(ctx, made); err != nil {
		return nil, err
	}
	d := &painting{
		pictures: p, canvas: newCanvas(int(w), int(h), int(band)), layers: layers, first: len(p.m.Groups),
		atlases: map[int32]atlas{}, open: map[int]*rows{}, damaged: map[int]bool{},
	}
	for _, l := range layers {
		d.first = min(d.first, l.Group)
	}
	return d.canvas.raster(d.paint), nil
}

// openStreams is about what the layers take that are read on from band to band.
func (p *pictures) openStreams(layers []*Layer) int64 {
	n := 0
	for _, l := range layers {
		if p.r.checkContent(l, nil) == nil && p.many(l.tiles(), int(*l.Data)) {
			n++
		}
	}
	return int64(min(n, maxStreams)) * 2 * inflaterCost
}

// paint draws a band.
func (d *painting) paint(ctx context.Context) error {
	s := newSky(d.canvas)
	tint := func(q *Quad) [4]float64 { return d.m.tint(q, &d.points) }
	for i := range d.m.Layers {
		if l := &d.m.Layers[i]; l.Quads != nil && l.Group != noGroup && l.Group < d.first {
			if err := d.layer(ctx, l, func() error { return d.drawQuads(ctx, s, l, tint) }); err != nil {
				return err
			}
		}
	}
	for _, l := range d.layers {
		if err := d.layer(ctx, l, func() error { return d.drawTiles(ctx, l) }); err != nil {
			return err
		}
	}
	return nil
}

// layer draws a layer, unless it is found to be damaged.
func (d *painting) layer(ctx context.Context, l *Layer, draw func() error) error {
	if err := ctx.Err(); err != nil || d.damaged[l.Index] {
		return err
	}
	err := d.r.checkContent(l, nil)
	if err == nil {
		err = draw()
	}
	if isFault(err) {
		d.damaged[l.Index], err = true, nil
	}
	return err
}

// drawQuads draws a layer of quads, unless its image is an external one that is not at hand.
func (d *painting) drawQuads(ctx context.Context, s *sky, l *Layer, tint func(*Quad) [4]float64) error {
	if l.empty() {
		return nil
	}
	var t texture
	if index := *l.Quads.Image; index != noImage {
		m, held, err := d.image(ctx, index)
		defer held.Free()
		if err != nil || m == nil {
			return err
		}
		if t, err = newTexture(ctx, held, m); err != nil {
			return err
		}
	}
	quads, err := d.tiles(ctx, l)
	if err != nil {
		return err
	}
	defer quads.held.Free()
	return quads.each(ctx, func(_ int, records []byte) error {
		return s.draw(ctx, &d.m.Groups[l.Group], decodeQuads(records), tint, t)
	})
}

// drawTiles draws a layer of tiles.
func (d *painting) drawTiles(ctx context.Context, l *Layer) error {
	external, err := d.external(ctx)
	if err != nil {
		return err
	}
	index := *l.Tiles.Image
	x := external[index]
	lacking := x != nil && x.file.ReaderAt == nil
	if lacking && isOrnament(x.name) {
		return nil
	}
	rows, err := d.rows(ctx, l)
	if err != nil {
		return err
	}
	defer rows.held.Free()
	a, ok := d.atlases[index]
	if !ok {
		if a, err = d.atlas(ctx, index, d.canvas.scale); err != nil {
			return err
		}
		if len(d.atlases) == maxAtlases {
			clear(d.atlases)
		}
		d.atlases[index] = a
	}
	return d.canvas.draw(ctx, rows, a.tinted(l.Tiles.Color), lacking)
}

// rows returns the rows of a layer. A few layers that are streamed go on
// where the band before ended; the others begin anew for each band.
func (d *painting) rows(ctx context.Context, l *Layer) (*rows, error) {
	if r := d.open[l.Index]; r != nil {
		return r, nil
	}
	tiles, err := d.tiles(ctx, l)
	if err != nil {
		return nil, err
	}
	r := &rows{Tiles: tiles}
	if tiles.stream != nil && len(d.open) < maxStreams {
		d.open[l.Index] = r
		_, err = formats.Charge(ctx, tiles.Held())
	}
	return r, err
}
