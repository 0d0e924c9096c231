package datafile

import (
	"context"
	"hash/fnv"
	"image"
	"image/color"
	"strings"
)

// maxPreview is how many pixels a preview has at most, if a pixel a tile is not more already.
const maxPreview = 4_000_000

// atlasSide is the number of cells in a row and column of a tile image.
const atlasSide = 16

// previewScale returns how many pixels wide a tile of a preview is.
func previewScale(width, height int64) int64 {
	for _, s := range []int64{16, 8, 4, 2} {
		if width*height*s*s <= maxPreview {
			return s
		}
	}
	return 1
}

const bytesPerPixel = 3 // of a preview: red green blue

var previewGround = [bytesPerPixel]byte{0x5d, 0x6d, 0x7e}

// maxBand is how many bytes of a preview are drawn at once at most. Nearly all previews have fewer.
const maxBand = maxPreview * bytesPerPixel

// A canvas is a band of a preview, over all its width, that is being drawn.
type canvas struct {
	tilesX, tilesY, scale int
	width, height         int // of the preview in pixels
	top, bottom           int // where the band is, in rows of tiles
	left, right           int // and in columns: a part of one row only where a tile is one pixel
	rows                  []byte
}

// newCanvas returns a canvas before the first band of a preview, which has some band bytes or a row
// of tiles of several pixels.
func newCanvas(tilesX, tilesY, band int) *canvas {
	s := int(previewScale(int64(tilesX), int64(tilesY)))
	c := &canvas{tilesX: tilesX, tilesY: tilesY, scale: s, width: tilesX * s, height: tilesY * s, right: tilesX}
	c.rows = make([]byte, 0, bandSize(int64(tilesX), int64(tilesY), int64(band)))
	return c
}

// bandSize is how many bytes a band takes at most.
func bandSize(tilesX, tilesY, band int64) int64 {
	s := previewScale(tilesX, tilesY)
	row := tilesX * s * s * bytesPerPixel
	if s == 1 && row > band {
		return bytesPerPixel * bandColumns(band)
	}
	return min(tilesY, max(1, band/row)) * row
}

// bandColumns is how many pixels of a row are in a band that has less than a whole row.
func bandColumns(band int64) int64 { return max(1, band/bytesPerPixel/maxPart) * maxPart }

// next goes on to the next band.
func (c *canvas) next() {
	row := c.width * c.scale * bytesPerPixel
	if columns := cap(c.rows) / bytesPerPixel; cap(c.rows) < row {
		if c.left = c.right % c.tilesX; c.left == 0 {
			c.top, c.bottom = c.bottom, c.bottom+1
		}
		c.right = min(c.left+columns, c.tilesX)
	} else {
		c.top, c.bottom = c.bottom, min(c.bottom+cap(c.rows)/row, c.tilesY)
	}
	c.rows = c.rows[:(c.bottom-c.top)*(c.right-c.left)*c.scale*c.scale*bytesPerPixel]
	for i := 0; i < len(c.rows); i += bytesPerPixel {
		copy(c.rows[i:], previewGround[:])
	}
}

// row returns row y of the preview from pixel x on, which is in the band.
func (c *canvas) row(x, y int) []byte {
	return c.rows[((y-c.top*c.scale)*(c.right-c.left)*c.scale+x-c.left*c.scale)*bytesPerPixel:]
}

// raster returns the preview. paint draws a band.
func (c *canvas) raster(paint func(context.Context) error) *raster {
	return &raster{width: c.width, height: c.height, kind: pngRGB, draw: func(ctx context.Context, x, y, n int) ([]byte, error) {
		if y >= c.bottom*c.scale || x >= c.right*c.scale {
			c.next()
			if err := paint(ctx); err != nil {
				return nil, err
			}
		}
		return c.row(x, y)[:n*bytesPerPixel], nil
	}}
}

// A pixel is a colour whose parts are multiplied by its alpha, 0 to 255.
type pixel struct{ r, g, b, a uint32 }

// An atlas is the 256 cells of a tile image, each of scale×scale pixels.
type atlas []pixel

// atlasBytes is how much memory an atlas takes.
func atlasBytes(scale int64) int64 { return 16 * atlasSide * atlasSide * scale * scale }

// previewed returns the layers that a preview shows besides its sky: plain tiles that move with the
// game layer.
func (m *Map) previewed() (list []*Layer) {
	for i := range m.Layers {
		l := &m.Layers[i]
		if l.Kind != KindTiles || l.Group == noGroup {
			continue
		}
		g := &m.Groups[l.Group]
		still := g.Parallax == [2]int32{100, 100} && g.Offset == [2]int32{}
		if l.Group == m.Game.Group || still && (g.Clip == nil || !g.Clip.Use) {
			list = append(list, l)
		}
	}
	return list
}

// plainAtlas is the atlas of a layer without an image, or with one that is known by name alone.
func plainAtlas(c color.NRGBA, scale int) atlas {
	cells := make(atlas, atlasSide*atlasSide*scale*scale)
	for i := range cells {
		cells[i] = pixel{uint32(c.R), uint32(c.G), uint32(c.B), uint32(c.A)}
	}
	return cells
}

var white = color.NRGBA{0xff, 0xff, 0xff, 0xff}

// newAtlas averages each cell of an image down to scale×scale.
func newAtlas(m *image.NRGBA, scale int) atlas {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	cells := make(atlas, atlasSide*atlasSide*scale*scale)
	side := atlasSide * scale
	sums, edges := make([]sum, side), make([]int, side+1) // of the cells, in a row
	for x := range edges {
		edges[x] = rgbaPixel * (x * w / side)
	}
	for y := range side {
		clear(sums)
		top := y * h / side
		for at := top; at < max((y+1)*h/side, top+1); at++ {
			row := m.Pix[at*m.Stride:]
			for x := range sums {
				sums[x].add(row[edges[x]:max(edges[x+1], edges[x]+rgbaPixel)], rgbaPixel)
			}
		}
		for x, s := range sums {
			cell := y/scale*atlasSide + x/scale
			cells[cell*scale*scale+y%scale*scale+x%scale] = s.mean()
		}
	}
	return cells
}

// A sum is that of pixels, their colours times alpha.
type sum struct{ r, g, b, a, n uint64 }

func (s *sum) add(row []byte, size int) {
	for i := 0; i < len(row); i += size {
		alpha := uint64(0xff)
		if size == rgbaPixel {
			alpha = uint64(row[i+3])
		}
		s.r += uint64(row[i]) * alpha
		s.g += uint64(row[i+1]) * alpha
		s.b += uint64(row[i+2]) * alpha
		s.a += alpha
	}
	s.n += uint64(len(row) / size)
}

// straight sets a pixel to the mean, whose colours are not multiplied.
func (s *sum) straight(rgba []byte) {
	if s.a > 0 {
		rgba[0], rgba[1], rgba[2], rgba[3] = byte(s.r/s.a), byte(s.g/s.a), byte(s.b/s.a), byte(s.a/s.n)
	}
}

// mean returns the mean of at least one pixel.
func (s *sum) mean() pixel {
	return pixel{uint32(s.r / s.n / 255), uint32(s.g / s.n / 255), uint32(s.b / s.n / 255), uint32(s.a / s.n)}
}

// tinted returns the atlas multiplied by the colour of a layer.
func (a atlas) tinted(tint [4]int32) atlas {
	var c [4]uint32
	for i := range c {
		c[i] = uint32(min(max(tint[i], 0), 255))
	}
	out := make(atlas, len(a))
	for i, p := range a {
		out[i] = pixel{
			p.r * c[0] / 255 * c[3] / 255, p.g * c[1] / 255 * c[3] / 255,
			p.b * c[2] / 255 * c[3] / 255, p.a * c[3] / 255,
		}
	}
	return out
}

// Flags of a tile. It is mirrored first, then turned.
const (
	flagMirrorX = 1
	flagMirrorY = 2
	flagTurn    = 8
)

// draw draws the tiles of the band over what is there. edges shades those of one colour.
func (c *canvas) draw(ctx context.Context, t *rows, a atlas, edges bool) error {
	for y := c.top; y < min(t.Height, c.bottom); y++ {
		for x := c.left; x < min(t.Width, c.right); x += maxPart {
			tiles, err := t.part(ctx, x, y, min(maxPart, t.Width-x, c.right-x))
			if err != nil {
				return err
			}
			for i := 0; i < len(tiles); i += t.size {
				if tiles[i] != 0 {
					c.drawTile(x+i/t.size, y, a[int(tiles[i])*c.scale*c.scale:], tiles[i+1])
					if edges {
						c.shadeEdges(t.Tiles, x+i/t.size, y)
					}
				}
			}
		}
	}
	return nil
}

// tilePixel returns which pixel of its cell a tile shows at x, y.
func tilePixel(flags byte, x, y, scale int) int {
	last := scale - 1
	if flags&flagTurn != 0 {
		x, y = y, last-x
	}
	if flags&flagMirrorX != 0 {
		x = last - x
	}
	if flags&flagMirrorY != 0 {
		y = last - y
	}
	return y*scale + x
}

func (c *canvas) drawTile(tileX, tileY int, cell []pixel, flags byte) {
	for y := range c.scale {
		row := c.row(tileX*c.scale, tileY*c.scale+y)
		for x := range c.scale {
			p := cell[tilePixel(flags, x, y, c.scale)]
			under := row[x*bytesPerPixel : x*bytesPerPixel+bytesPerPixel]
			under[0] = byte(p.r + uint32(under[0])*(255-p.a)/255)
			under[1] = byte(p.g + uint32(under[1])*(255-p.a)/255)
			under[2] = byte(p.b + uint32(under[2])*(255-p.a)/255)
		}
	}
}

// nameColors are the mean colours of the images that the games come with, by a part of their names.
// The first one counts.
var nameColors = []struct {
	part  string
	color color.NRGBA
}{
	{"unhookable", rgb(0x75685b)},
	{"death", rgb(0xa04a3c)},
	{"freeze", rgb(0x3a4c6b)},
	{"generic", rgb(0x8b8d92)},
	{"grass", rgb(0x7a642f)},
	{"desert", rgb(0x986a46)},
	{"jungle", rgb(0x825f35)},
	{"winter", rgb(0xabb8bb)},
	{"mountain", rgb(0xa1b3c5)},
	{"snow", rgb(0xe8eef2)},
	{"water", rgb(0x748dbb)},
}

// ornaments are parts of names of images that are mostly transparent. Their tiles in one colour
// would hide what a preview shows without them.
var ornaments = []string{"doodad", "lamp", "shadow", "cloud", "sun", "moon", "star", "light", "fadeout", "font"}

// isOrnament reports whether an image that is not at hand is left out of a preview.
func isOrnament(name string) bool {
	for _, part := range ornaments {
		if strings.Contains(strings.ToLower(name), part) {
			return true
		}
	}
	return false
}

// nameColor is the colour of an external image that is not at hand: about its own if it is one of
// the games', else a quiet one.
func nameColor(name string) color.NRGBA {
	for _, known := range nameColors {
		if strings.Contains(strings.ToLower(name), known.part) {
			return known.color
		}
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	sum := h.Sum32()
	part := func(shift int) uint8 { return 0x68 + uint8(sum>>shift)%0x40 }
	return color.NRGBA{part(0), part(8), part(16), 0xff}
}

// shadeEdges darkens where a tile of one colour borders on air, and lightens its upper edge.
func (c *canvas) shadeEdges(t *Tiles, tileX, tileY int) {
	edge := c.scale / 4
	up, down := t.isAir(tileX, tileY-1), t.isAir(tileX, tileY+1)
	left, right := t.isAir(tileX-1, tileY), t.isAir(tileX+1, tileY)
	for y := range c.scale {
		row := c.row(tileX*c.scale, tileY*c.scale+y)
		for x := range c.scale {
			pixel := row[x*bytesPerPixel:][:bytesPerPixel]
			switch {
			case up && y < edge:
				for i, v := range pixel {
					pixel[i] = v + (255-v)/4
				}
			case down && y >= c.scale-edge, left && x < edge, right && x >= c.scale-edge:
				for i, v := range pixel {
					pixel[i] = v - v/4
				}
			}
		}
	}
}

// isAir reports whether there is no tile at a place of a layer in memory.
func (t *Tiles) isAir(x, y int) bool {
	return t.Records != nil && x >= 0 && x < t.Width && y >= 0 && y < t.Height && t.Records[(y*t.Width+x)*t.size] == 0
}
