package datafile

import (
	"image"
	"math"

	"recfs/formats"
)

// A texture is the image of a quad, followed by the same image in half of its width and height, and so
// on: a pixel of what is drawn smaller is the mean of what it shows.
type texture []*image.NRGBA

// newTexture returns the texture of m. Each image has a quarter of the pixels of the one before it, so
// all but the first are less than a third of that, which counts to held.
func newTexture(held *formats.Held, m *image.NRGBA) (texture, error) {
	if err := held.Grow(int64(len(m.Pix)) / 3); err != nil {
		return nil, err
	}
	t := texture{m}
	for m.Rect.Dx() > 1 && m.Rect.Dy() > 1 {
		m = half(m)
		t = append(t, m)
	}
	return t, nil
}

func half(m *image.NRGBA) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, m.Rect.Dx()/2, m.Rect.Dy()/2))
	for y := range out.Rect.Dy() {
		row := out.Pix[y*out.Stride:]
		for x := range out.Rect.Dx() {
			var s sum
			for k := range 2 {
				at := m.PixOffset(2*x, 2*y+k)
				s.add(m.Pix[at : at+2*rgbaPixel])
			}
			if p := s.mean(); p.a > 0 {
				copy(row[4*x:], []byte{byte(p.r * 255 / p.a), byte(p.g * 255 / p.a), byte(p.b * 255 / p.a), byte(p.a)})
			}
		}
	}
	return out
}

// level returns the image for a quad that is as many pixels wide and high, and shows the texture as
// many times in each direction.
func (t texture) level(pixels, times [2]float64) *image.NRGBA {
	texels := times[0] * times[1] * float64(t[0].Rect.Dx()) * float64(t[0].Rect.Dy())
	halvings := math.Log2(texels/(pixels[0]*pixels[1])) / 2
	if !(halvings > 0) { // also where one of them is 0
		return t[0]
	}
	return t[int(min(halvings, float64(len(t)-1)))]
}

// shade multiplies a colour by that of m at a place, of which 1 is the width or height: it repeats.
func shade(c *[4]float64, m *image.NRGBA, place [2]float64) {
	at := func(v float64, size int) int { return min(int((v-math.Floor(v))*float64(size)), size-1) }
	texel := m.Pix[m.PixOffset(at(place[0], m.Rect.Dx()), at(place[1], m.Rect.Dy())):]
	for i := range c {
		c[i] *= float64(texel[i]) / 255
	}
}
