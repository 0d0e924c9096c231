package datafile

import (
	"hash/fnv"
	"image"
	"image/color"
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

// A canvas is a preview being drawn.
type canvas struct {
	tilesX, tilesY, scale int
	width, height         int // in pixels
	rows                  []byte
}

func newCanvas(tilesX, tilesY int) *canvas {
	s := int(previewScale(int64(tilesX), int64(tilesY)))
	c := &canvas{tilesX: tilesX, tilesY: tilesY, scale: s}
	c.width, c.height = tilesX*s, tilesY*s
	c.rows = make([]byte, c.width*c.height*bytesPerPixel)
	for i := 0; i < len(c.rows); i += bytesPerPixel {
		copy(c.rows[i:], previewGround[:])
	}
	return c
}

func (c *canvas) raster() *raster {
	stride := c.width * bytesPerPixel
	return &raster{width: c.width, height: c.height, kind: pngRGB, row: func(y int) []byte { return c.rows[y*stride : (y+1)*stride] }}
}

// A pixel is a colour whose parts are multiplied by its alpha, 0 to 255.
type pixel struct{ r, g, b, a uint32 }

// An atlas is the 256 cells of a tile image, each of scale×scale pixels.
type atlas []pixel

// inPreview reports whether a layer is drawn: plain tiles that move with the game layer. game is
// the group of the game layer.
func (m *Map) inPreview(l *Layer, game int) bool {
	if l.Kind != KindTiles || l.Group == noGroup {
		return false
	}
	g := &m.Groups[l.Group]
	still := g.Parallax == [2]int32{100, 100} && g.Offset == [2]int32{}
	return l.Group == game || still && (g.Clip == nil || !g.Clip.Use)
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

// nameColor is the colour of an external image that is not at hand.
func nameColor(name string) color.NRGBA {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	sum := h.Sum32()
	part := func(shift int) uint8 { return 0x50 + uint8(sum>>shift)%0x90 }
	return color.NRGBA{part(0), part(8), part(16), 0xff}
}

// newAtlas averages each cell of m down to scale×scale pixels.
func newAtlas(m *image.NRGBA, scale int) atlas {
	cells := make(atlas, atlasSide*atlasSide*scale*scale)
	side := atlasSide * scale
	w, h := m.Rect.Dx(), m.Rect.Dy()
	for y := range side {
		top, bottom := y*h/side, (y+1)*h/side
		for x := range side {
			left, right := x*w/side, (x+1)*w/side
			cell := y/scale*atlasSide + x/scale
			cells[cell*scale*scale+y%scale*scale+x%scale] = average(m, left, top, max(right, left+1), max(bottom, top+1))
		}
	}
	return cells
}

// average returns the mean of a rectangle that is not empty.
func average(m *image.NRGBA, left, top, right, bottom int) pixel {
	var r, g, b, a uint64
	for y := top; y < bottom; y++ {
		row := m.Pix[y*m.Stride+4*left : y*m.Stride+4*right]
		for i := 0; i < len(row); i += 4 {
			alpha := uint64(row[i+3])
			r += uint64(row[i]) * alpha
			g += uint64(row[i+1]) * alpha
			b += uint64(row[i+2]) * alpha
			a += alpha
		}
	}
	n := uint64((right - left) * (bottom - top))
	return pixel{uint32(r / n / 255), uint32(g / n / 255), uint32(b / n / 255), uint32(a / n)}
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

// draw draws the tiles over what is there.
func (c *canvas) draw(t *rows, a atlas) {
	for y := range min(t.Height, c.tilesY) {
		tiles := t.row(y)
		for x := range min(t.Width, c.tilesX) {
			record := tiles[x*t.size:]
			if record[0] != 0 {
				c.drawTile(x, y, a[int(record[0])*c.scale*c.scale:], record[1])
			}
		}
	}
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
		row := c.rows[((tileY*c.scale+y)*c.width+tileX*c.scale)*bytesPerPixel:]
		for x := range c.scale {
			p := cell[tilePixel(flags, x, y, c.scale)]
			under := row[x*bytesPerPixel : x*bytesPerPixel+bytesPerPixel]
			under[0] = byte(p.r + uint32(under[0])*(255-p.a)/255)
			under[1] = byte(p.g + uint32(under[1])*(255-p.a)/255)
			under[2] = byte(p.b + uint32(under[2])*(255-p.a)/255)
		}
	}
}
