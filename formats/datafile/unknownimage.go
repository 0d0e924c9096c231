package datafile

import (
	"hash/fnv"
	"image/color"
	"strings"
)

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
