package datafile

import (
	"context"
	"image"
	"math"

	"recfs/formats"
)

// A texture is the image of a quad, followed by the same image in half of its width and height, and
// so on: a pixel of what is drawn smaller is the mean of what it shows.
type texture []*image.NRGBA

// newTexture returns the texture of m. Each image has a quarter of the pixels of the one before it,
// so all but the first are less than a third of that, which counts to held.
func newTexture(ctx context.Context, held *formats.Held, m *image.NRGBA) (texture, error) {
	if err := held.Grow(int64(len(m.Pix)) / 3); err != nil {
		return nil, err
	}
	t := texture{m}
	for m.Rect.Dx() > 1 && m.Rect.Dy() > 1 {
		var err error
		if m, err = inMemory(m).shrink(ctx, 2, 2); err != nil {
			return nil, err
		}
		t = append(t, m)
	}
	return t, nil
}

// What is drawn of an image has at most so many pixels, and as many in a row: of a larger one it is
// a smaller picture.
const (
	maxTexture = 1 << 20
	maxTexels  = 1 << 13
)

// inMemory are the pixels of m.
func inMemory(m *image.NRGBA) *Tiles {
	return &Tiles{Width: m.Rect.Dx(), Height: m.Rect.Dy(), size: rgbaPixel, Records: m.Pix}
}

// texels returns the pixels as a picture that is not too large, in memory that held counts.
func (t *Tiles) texels(ctx context.Context, held *formats.Held) (*image.NRGBA, error) {
	x, y := 1, 1
	for w, h := t.Width, t.Height; w*h > maxTexture || max(w, h) > maxTexels; w, h = t.Width/x, t.Height/y {
		if w >= h {
			x *= 2
		} else {
			y *= 2
		}
	}
	if err := held.Grow(int64(rgbaPixel * (t.Width / x) * (t.Height / y))); err != nil {
		return nil, err
	}
	return t.shrink(ctx, x, y)
}

// shrink returns a picture of which each pixel is the mean of so many in a row and in a column.
func (t *Tiles) shrink(ctx context.Context, columns, lines int) (*image.NRGBA, error) {
	m := image.NewNRGBA(image.Rect(0, 0, t.Width/columns, t.Height/lines))
	sums := make([]sum, m.Rect.Dx())
	from, step := &rows{Tiles: t}, columns*max(1, maxPart/columns)
	for y := range t.Height {
		for x := 0; x < t.Width; x += step {
			pixels, err := from.part(ctx, x, y, min(step, t.Width-x))
			if err != nil {
				return nil, err
			}
			if columns*lines == 1 {
				copyRGBA(m.Pix[y*m.Stride+rgbaPixel*x:], pixels, t.size)
				continue
			}
			for i := x / columns; i < min((x+step)/columns, len(sums)); i++ {
				at := t.size * (i*columns - x)
				sums[i].add(pixels[at:at+t.size*columns], t.size)
			}
		}
		if y%lines == lines-1 && columns*lines > 1 {
			for i := range sums {
				sums[i].straight(m.Pix[y/lines*m.Stride+rgbaPixel*i:])
			}
			clear(sums)
		}
	}
	return m, nil
}

// copyRGBA sets pixels of RGBA to those of so many bytes each.
func copyRGBA(rgba, pixels []byte, size int) {
	if size == rgbaPixel {
		copy(rgba, pixels)
		return
	}
	for i := range len(pixels) / size {
		copy(rgba[rgbaPixel*i:], pixels[size*i:size*(i+1)])
		rgba[rgbaPixel*i+rgbPixel] = 0xff
	}
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
