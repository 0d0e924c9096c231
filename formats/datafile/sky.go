package datafile

import (
	"context"
	"image"
	"math"
)

// The sky of a map is quads of groups that hardly move with the game layer: a few gradients as
// large as a screen, however large the map, and pictures of clouds and mountains. A preview shows
// all of the map, so each point of it shows what stands there while the camera is around: as far as
// the group moves with the camera it is where it belongs, and as far as it does not it is stretched
// from a screen to the map.

// Width and height of a screen in world units: what clients show at most.
const (
	screenWidth  = 1500
	screenHeight = 1050
)

// tileUnits is the width of a tile in world units.
const tileUnits = 32

// An axis takes one coordinate of a group to the preview.
type axis struct{ origin, scale float64 }

// newAxis returns the axis of a group for a preview of that many pixels, which are size world
// units. There is none if the group moves backwards.
func newAxis(offset, parallax int32, screen, size float64, pixels int) (a axis, ok bool) {
	still := 1 - float64(parallax)/100
	span := size*(1-still) + screen*still
	if span <= 0 {
		return axis{}, false
	}
	return axis{float64(offset) - screen*still/2, float64(pixels) / span}, true
}

// pixel returns where a fixed-point coordinate is.
func (a axis) pixel(v int32) float64 { return (float64(v)/fixedPoint - a.origin) * a.scale }

// fixedPoint is 1 in fixed-point numbers.
const fixedPoint = 1024

// inSky reports whether a quad is drawn: one that no envelope moves.
func (q *Quad) inSky() bool { return q.PosEnv < 0 }

// tint is the colour that a quad is multiplied by: that of the first point of its envelope.
func (m *Map) tint(q *Quad, points *Points) [4]float64 {
	tint := [4]float64{1, 1, 1, 1}
	if q.ColorEnv < 0 || int(q.ColorEnv) >= len(m.Envelopes) || m.Envelopes[q.ColorEnv].Channels < maxChannels {
		return tint
	}
	if first, last := points.clamp(&m.Envelopes[q.ColorEnv]); first < last {
		for i, v := range points.At(first)[2 : 2+maxChannels] {
			tint[i] = float64(v) / fixedPoint
		}
	}
	return tint
}

// A sky draws quads on a canvas. What it takes is counted for the whole preview, so that all bands
// end with the same.
type sky struct {
	*canvas
	work int // how many more pixels are looked at
}

// skyWork is how many times the pixels of a preview may be looked at for its sky. A few maps of the
// games have 20 quads over all of it.
const skyWork = 32

func newSky(c *canvas) *sky { return &sky{c, skyWork * c.width * c.height} }

// draw draws the quads of a group. tint is the colour that a quad is multiplied by, and t the image
// of the layer, if it has one.
func (s *sky) draw(ctx context.Context, g *Group, quads []Quad, tint func(*Quad) [4]float64, t texture) error {
	scale := float64(s.scale) / tileUnits
	x, okX := newAxis(g.Offset[0], g.Parallax[0], screenWidth, float64(s.width)/scale, s.width)
	y, okY := newAxis(g.Offset[1], g.Parallax[1], screenHeight, float64(s.height)/scale, s.height)
	if !okX || !okY {
		return nil
	}
	clip := image.Rect(0, 0, s.width, s.height)
	if c := g.Clip; c != nil && c.Use {
		left, top := float64(c.X), float64(c.Y)
		clip = s.pixels(left*scale, top*scale, (left+float64(c.W))*scale, (top+float64(c.H))*scale)
	}
	for i := range quads {
		if err := ctx.Err(); err != nil {
			return err
		}
		q, v := gradient{}, &quads[i]
		if !v.inSky() {
			continue
		}
		factor := tint(v)
		for k := range q.colors {
			q.points[k] = [2]float64{x.pixel(v.Points[k][0]), y.pixel(v.Points[k][1])}
			for channel, c := range v.Colors[k] {
				q.colors[k][channel] = float64(c) * factor[channel]
			}
			for i, c := range v.Texcoords[k] {
				q.places[k][i] = float64(c) / fixedPoint
			}
		}
		if t != nil {
			q.image = t.level(extent(&q.points), extent(&q.places))
		}
		s.fill(&q, clip)
	}
	return nil
}

// pixels returns the pixels of a rectangle that are on the canvas.
func (s *sky) pixels(left, top, right, bottom float64) image.Rectangle {
	on := func(v float64, size int) int { return int(min(max(v, 0), float64(size))) }
	return image.Rect(on(left, s.width), on(top, s.height), on(math.Ceil(right), s.width), on(math.Ceil(bottom), s.height))
}

// A gradient is a quad on a canvas. Its corners are those of a Quad, their colours from 0 to 255.
type gradient struct {
	points [4][2]float64
	colors [4][4]float64
	image  *image.NRGBA  // nil: there is none
	places [4][2]float64 // of the corners in the image
}

// extent returns the width and height of what has these corners.
func extent(p *[4][2]float64) (size [2]float64) {
	for i := range size {
		size[i] = max(p[0][i], p[1][i], p[2][i], p[3][i]) - min(p[0][i], p[1][i], p[2][i], p[3][i])
	}
	return size
}

// halves are the triangles of a quad.
var halves = [2][3]int{{0, 1, 3}, {0, 2, 3}}

// fill draws a quad. Once the sky has taken too much work it draws no more.
func (s *sky) fill(q *gradient, clip image.Rectangle) {
	p := &q.points
	box := s.pixels(
		min(p[0][0], p[1][0], p[2][0], p[3][0]), min(p[0][1], p[1][1], p[2][1], p[3][1]),
		max(p[0][0], p[1][0], p[2][0], p[3][0]), max(p[0][1], p[1][1], p[2][1], p[3][1])).Intersect(clip)
	if s.work -= box.Dx() * box.Dy(); s.work < 0 {
		return
	}
	for y := max(box.Min.Y, s.top*s.scale); y < min(box.Max.Y, s.bottom*s.scale); y++ {
		for x := max(box.Min.X, s.left*s.scale); x < min(box.Max.X, s.right*s.scale); x++ {
			if c, ok := q.at(float64(x)+0.5, float64(y)+0.5); ok {
				blend(s.row(x, y), c)
			}
		}
	}
}

// at returns the colour at a point, if the quad is there.
func (q *gradient) at(x, y float64) (c [4]float64, ok bool) {
	for _, corners := range halves {
		weights, inside := weightsIn(q.points[corners[0]], q.points[corners[1]], q.points[corners[2]], x, y)
		if !inside {
			continue
		}
		place := [2]float64{}
		for i, w := range weights {
			for channel, v := range q.colors[corners[i]] {
				c[channel] += w * v
			}
			place[0] += w * q.places[corners[i]][0]
			place[1] += w * q.places[corners[i]][1]
		}
		if q.image != nil {
			shade(&c, q.image, place)
		}
		return c, true
	}
	return c, false
}

// weightsIn returns how much each corner of a triangle counts at a point in it.
func weightsIn(a, b, c [2]float64, x, y float64) (w [3]float64, inside bool) {
	area := (b[1]-c[1])*(a[0]-c[0]) + (c[0]-b[0])*(a[1]-c[1])
	if area == 0 {
		return w, false
	}
	w[0] = ((b[1]-c[1])*(x-c[0]) + (c[0]-b[0])*(y-c[1])) / area
	w[1] = ((c[1]-a[1])*(x-c[0]) + (a[0]-c[0])*(y-c[1])) / area
	w[2] = 1 - w[0] - w[1]
	const slack = -1e-9 // no gap between the halves of a quad
	return w, min(w[0], w[1], w[2]) >= slack
}

// blend draws a colour of parts from 0 to 255 over a pixel.
func blend(under []byte, c [4]float64) {
	part := func(v float64) float64 { return min(max(v, 0), 255) }
	alpha := part(c[3]) / 255
	for i := range bytesPerPixel {
		under[i] = byte(part(c[i])*alpha + float64(under[i])*(1-alpha) + 0.5)
	}
}
