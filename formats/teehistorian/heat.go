package teehistorian

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"math"

	"recfs/formats"
)

// A heat counts how many ticks characters spent on each square of a grid over the map.
type heat struct {
	shift int // a square has 1<<shift tiles a side
	ticks map[image.Point]int64
	there map[int32]arrival // characters by client id
}

// An arrival is when a character came to a square.
type arrival struct {
	at   image.Point
	tick int32
}

const (
	maxSquares    = 1 << 18 // that are counted; squares become larger beyond it
	squareCost    = 80
	maxHeatPixels = 2 << 20
	maxHeatZoom   = 8 // pixels a tile
)

// add follows an event.
func (h *heat) add(e *event) {
	if t, ok := tableOf(e.kind); !ok || t != positionTable || e.player == nil {
		return
	}
	p := e.player
	at := image.Pt(int(p.x)>>tileBits>>h.shift, int(p.y)>>tileBits>>h.shift)
	was, ok := h.there[p.cid]
	if ok && e.known && was.at == at {
		return
	}
	if ok {
		h.ticks[was.at] += int64(e.tick) - int64(was.tick)
		delete(h.there, p.cid)
	}
	if e.known {
		h.there[p.cid] = arrival{at, e.tick}
	}
	for len(h.ticks) > maxSquares {
		h.coarsen()
	}
}

// end counts those who are there when the recording ends.
func (h *heat) end(x *index) {
	for _, a := range h.there {
		h.ticks[a.at] += int64(x.lastTick()) - int64(a.tick) + 1
	}
}

// coarsen doubles the sides of the squares.
func (h *heat) coarsen() {
	h.shift++
	ticks := make(map[image.Point]int64, len(h.ticks))
	for at, n := range h.ticks {
		ticks[half(at)] += n
	}
	h.ticks = ticks
	for cid, a := range h.there {
		a.at = half(a.at)
		h.there[cid] = a
	}
}

func half(p image.Point) image.Point { return image.Pt(p.X>>1, p.Y>>1) }

// area returns the squares of the map, or without a map those from its corner to all that somebody
// was on.
func (h *heat) area(m *formats.Outline) image.Rectangle {
	area := image.Rect(0, 0, 1, 1)
	if m != nil {
		return area.Union(image.Rect(0, 0, (m.Width-1)>>h.shift+1, (m.Height-1)>>h.shift+1))
	}
	for at := range h.ticks {
		area = area.Union(image.Rectangle{at, at.Add(image.Pt(1, 1))})
	}
	return area
}

// heat renders heat.png: the map, if there is one, and how long players were where.
func (r *recording) heat(ctx context.Context, m *formats.Outline) ([]byte, error) {
	held, err := formats.Charge(ctx, squareCost*min(r.idx.positions(), maxSquares)+2*maxHeatPixels)
	if err != nil {
		return nil, err
	}
	defer held.Free()
	h, err := r.countHeat(ctx)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = png.Encode(&b, h.draw(m))
	return b.Bytes(), err
}

func (r *recording) countHeat(ctx context.Context) (*heat, error) {
	h := &heat{ticks: map[image.Point]int64{}, there: map[int32]arrival{}}
	for k := range r.idx.chunks {
		if err := r.each(ctx, k, math.MaxInt32, 0, h.add); err != nil {
			return nil, err
		}
	}
	h.end(r.idx)
	return h, nil
}

// draw draws the squares over the solid tiles of m, the darker the longer somebody was there, on a
// logarithmic scale.
func (h *heat) draw(m *formats.Outline) *image.Paletted {
	area := h.area(m)
	for ; int64(area.Dx())*int64(area.Dy()) > maxHeatPixels; area = h.area(m) {
		h.coarsen()
	}
	zoom := maxHeatZoom
	for zoom > 1 && area.Dx()*area.Dy()*zoom*zoom > maxHeatPixels {
		zoom /= 2
	}
	img := image.NewPaletted(image.Rect(0, 0, area.Dx()*zoom, area.Dy()*zoom), heatColours)
	fill := func(at image.Point, c uint8) {
		if !at.In(area) {
			return
		}
		at = at.Sub(area.Min).Mul(zoom)
		for i := range zoom * zoom {
			img.SetColorIndex(at.X+i%zoom, at.Y+i/zoom, c)
		}
	}
	if m != nil {
		for i, solid := range m.Solid {
			if solid {
				fill(image.Pt(i%m.Width>>h.shift, i/m.Width>>h.shift), heatSolid)
			}
		}
	}
	most := int64(1)
	for at, n := range h.ticks {
		if at.In(area) {
			most = max(most, n)
		}
	}
	for at, n := range h.ticks {
		if n > 0 {
			warm := float64(len(heatColours)-heatWarm-1) * math.Log1p(float64(n)) / math.Log1p(float64(most))
			fill(at, heatWarm+uint8(warm))
		}
	}
	return img
}

// Colours of heat.png.
const (
	heatSolid = 1 + iota
	heatWarm  // the first of those that say how long
)

var heatColours = func() color.Palette {
	list := color.Palette{color.White, color.Gray{0xcc}}
	stops := [...][3]float64{{0xfd, 0xec, 0xc8}, {0xee, 0xa7, 0x6b}, {0xb3, 0x50, 0x6a}, {0x2f, 0x1c, 0x4a}}
	const n = 256 - heatWarm
	for i := range n {
		at, part := math.Modf(float64(i) / n * float64(len(stops)-1))
		a, b := stops[int(at)], stops[int(at)+1]
		mix := func(c int) uint8 { return uint8(a[c] + part*(b[c]-a[c])) }
		list = append(list, color.NRGBA{mix(0), mix(1), mix(2), 0xff})
	}
	return list
}()
