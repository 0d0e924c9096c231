package datafile

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPNG decodes pictures of many sizes and kinds with the standard library. Half of the rows are
// noise, which does not compress.
func TestPNG(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	palette := slices.Concat([]color.NRGBA{{}}, collisionPalette)
	for _, size := range [][2]int{{1, 1}, {3, 2}, {255, 257}, {65534, 1}, {1, 70000}, {300, 300}} {
		for kind, channels := range map[byte]int{pngRGB: 3, pngIndexed: 1, pngRGBA: 4} {
			p := &raster{width: size[0], height: size[1], kind: kind}
			if kind == pngIndexed {
				p.palette = palette
			}
			var want []byte
			p.draw = func(_ context.Context, _, y, n int) ([]byte, error) {
				row := make([]byte, channels*n)
				for i := range row {
					if row[i] = byte(y); y%2 == 0 {
						row[i] = byte(random.Uint32())
					}
					if kind == pngIndexed {
						row[i] %= byte(len(palette))
					}
				}
				want = append(want, row...)
				return row, nil
			}
			b, err := p.png(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			m, err := png.Decode(bytes.NewReader(b))
			if err != nil {
				t.Fatalf("%v of kind %d: %v", size, kind, err)
			}
			if m.Bounds() != image.Rect(0, 0, p.width, p.height) || !bytes.Equal(pixelsOf(m), want) {
				t.Errorf("%v of kind %d: pixels differ", size, kind)
			}
			if m, ok := m.(*image.Paletted); ok {
				sameColors(t, m.Palette, palette)
			}
		}
	}
}

func sameColors(t *testing.T, got color.Palette, want []color.NRGBA) {
	t.Helper()
	for i, c := range got {
		if color.NRGBAModel.Convert(c) != want[i] {
			t.Errorf("colour %d is %v, want %v", i, c, want[i])
		}
	}
}

// pixelsOf returns the palette indices of m, its red, green, blue and alpha, or without alpha where
// the file has none.
func pixelsOf(m image.Image) []byte {
	switch m := m.(type) {
	case *image.Paletted:
		return m.Pix
	case *image.NRGBA:
		return m.Pix
	}
	var b []byte
	for pixel := range slices.Chunk(m.(*image.RGBA).Pix, 4) {
		b = append(b, pixel[:3]...)
	}
	return b
}

// TestPNGCancelled stops in the middle of a picture.
func TestPNGCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &raster{width: 1, height: 1 << 30, kind: pngRGB, draw: func(_ context.Context, _, y, _ int) ([]byte, error) {
		if y == 9 {
			cancel()
		}
		return []byte{1, 2, 3}, nil
	}}
	if _, err := p.png(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}
