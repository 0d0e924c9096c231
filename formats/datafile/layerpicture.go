package datafile

import (
	"context"
	"image/color"
	"slices"
)

// A layer alone is drawn over nothing: where it has no tile, its picture is transparent.

// hasPicture reports whether a layer alone has a picture: tiles with an image have one, and layers
// whose tiles have colours by what they do.
func (m *Map) hasPicture(l *Layer) bool {
	switch l.Kind {
	case KindGame, KindFront, KindTele:
		return true
	case KindTiles:
		i := l.Tiles.Image
		return i != nil && *i >= 0 && int(*i) < len(m.Images)
	}
	return false
}

// drawAlone draws tiles of an image whose cells have scale×scale pixels.
func drawAlone(t *rows, a atlas, scale int) *raster {
	pixels := a.straight()
	return t.raster(scale, pngRGBA, nil, func(row, record []byte, y int) {
		clear(row)
		for i := range scale {
			if index := int(record[0]); index != 0 {
				p := pixels[index*scale*scale+tilePixel(record[1], i, y, scale)]
				copy(row[rgbaPixel*i:], p[:])
			}
		}
	})
}

// raster returns a picture of tiles that are scale×scale pixels. paint sets a row of pixels of a
// tile.
func (r *rows) raster(scale int, kind byte, palette []color.NRGBA, paint func(row, record []byte, y int)) *raster {
	pixel := 1
	if kind == pngRGBA {
		pixel = rgbaPixel
	}
	row := make([]byte, pixel*min(r.Width*scale, maxPart))
	return &raster{r.Width * scale, r.Height * scale, kind, palette, func(ctx context.Context, x, y, n int) ([]byte, error) {
		tiles, err := r.part(ctx, x/scale, y/scale, n/scale)
		for i := range len(tiles) / r.size {
			paint(row[pixel*scale*i:][:pixel*scale], tiles[i*r.size:][:r.size], y%scale)
		}
		return row[:pixel*n], err
	}}
}

// straight returns the pixels as red, green, blue and alpha, not multiplied.
func (a atlas) straight() [][4]byte {
	out := make([][4]byte, len(a))
	for i, p := range a {
		if p.a > 0 {
			part := func(v uint32) byte { return byte(min(v*255/p.a, 255)) }
			out[i] = [4]byte{part(p.r), part(p.g), part(p.b), byte(p.a)}
		}
	}
	return out
}

// drawColors draws tiles in a colour each, by what they do.
func drawColors(t *rows, scale int) *raster {
	paint, palette := gameColor, gamePalette
	if t.Kind == KindTele {
		paint, palette = teleColor, telePalette
	}
	return t.raster(scale, pngIndexed, palette, func(row, record []byte, _ int) {
		c := paint(record)
		for i := range row {
			row[i] = c
		}
	})
}

// gamePalette holds the colours of collision.png, but for air.
var gamePalette = slices.Concat([]color.NRGBA{{}}, collisionPalette[1:])

func gameColor(record []byte) byte { return collisionColor(record[0]) }

// Types of tele tiles where one comes out.
const (
	teleOut           = 27
	teleCheckpointOut = 30
)

// teleHues is how many numbers of teleporters have colours of their own.
const teleHues = 127

// telePalette has two colours for each number: a light one where one goes in, a dark one where one
// comes out. Those of numbers that follow each other are far apart.
var telePalette = func() []color.NRGBA {
	const step = 949 // of 1536: the golden ratio
	palette := []color.NRGBA{{}}
	for i := range teleHues {
		c := hue(i * step % 1536)
		palette = append(palette, c, color.NRGBA{c.R / 2, c.G / 2, c.B / 2, c.A})
	}
	return palette
}()

func teleColor(record []byte) byte {
	if isZero(record) {
		return 0
	}
	c := 1 + 2*byte((int(record[0])+254)%255%teleHues)
	if kind := record[1]; kind == teleOut || kind == teleCheckpointOut {
		c++
	}
	return c
}

// hue returns the colour at angle h of the colour wheel, 0 to 1535, from red over green and blue.
func hue(h int) color.NRGBA {
	up := byte(h % 256)
	down := 255 - up
	return []color.NRGBA{
		{255, up, 0, 255},
		{down, 255, 0, 255},
		{0, 255, up, 255},
		{0, down, 255, 255},
		{up, 0, 255, 255},
		{255, 0, down, 255},
	}[h/256]
}
