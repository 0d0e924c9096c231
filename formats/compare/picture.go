package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"

	"recfs/nodes"
)

// A Picture shows the tiles that differ in two maps over the picture of their cells: green where
// tiles were added, red where they were removed, and orange where others took their place, in any
// layer. Maps of different size stand with their upper left corners on each other.
type Picture struct {
	img   *image.NRGBA
	scale int // pixels a tile
}

const (
	maxPixels = 4_000_000 // of a picture
	maxSide   = 1 << 14   // tiles
)

var (
	colourAdded   = color.NRGBA{0x2f, 0x9e, 0x44, 0xff}
	colourRemoved = color.NRGBA{0xd4, 0x3d, 0x2a, 0xff}
	colourChanged = color.NRGBA{0xf0, 0x8c, 0x00, 0xff}
	colourOutside = color.NRGBA{0xdd, 0xdd, 0xdd, 0xff}
)

// NewPicture returns the picture of two maps without any marks. The error is ErrNothing for what
// are no maps with a game layer.
func NewPicture(ctx context.Context, a, b Side) (*Picture, error) {
	old, err := picture(ctx, a)
	if err != nil {
		return nil, err
	}
	now, err := picture(ctx, b)
	if err != nil {
		return nil, err
	}
	size := old.Bounds().Union(now.Bounds()).Size()
	scale := 16
	for scale > 1 && size.X*size.Y*scale*scale > maxPixels {
		scale /= 2
	}
	p := &Picture{image.NewNRGBA(image.Rect(0, 0, size.X*scale, size.Y*scale)), scale}
	for y := range size.Y {
		for x := range size.X {
			c := color.Color(colourOutside)
			if at := image.Pt(x, y); at.In(now.Bounds()) {
				c = now.At(x, y)
			} else if at.In(old.Bounds()) {
				c = old.At(x, y)
			}
			p.fill(x, y, faint(c))
		}
	}
	return p, nil
}

// picture returns the picture of the cells of a recording.
func picture(ctx context.Context, of Side) (image.Image, error) {
	e, err := nodes.Lookup(ctx, of.Dir, cmp.Or(of.Picture, "."))
	if err != nil || e.File == nil {
		return nil, fmt.Errorf("%w: there is no %s to draw on", ErrNothing, cmp.Or(of.Picture, "picture"))
	}
	content, err := e.File.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer nodes.CloseContent(content)
	r := nodes.Reader(ctx, content)
	config, err := png.DecodeConfig(r)
	if err != nil {
		return nil, err
	}
	if config.Width > maxSide || config.Height > maxSide || config.Width*config.Height > 16*maxPixels {
		return nil, errors.New("the map is too large to be drawn")
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return png.Decode(r)
}

// faint returns a colour half way to white, in grey.
func faint(c color.Color) color.NRGBA {
	grey, _ := color.GrayModel.Convert(c).(color.Gray)
	v := 0x80 + grey.Y/2
	return color.NRGBA{v, v, v, 0xff}
}

// Mark marks a tile; it is the Marks of the picture.
func (p *Picture) Mark(_ string, x, y int, old, now string) {
	switch {
	case old == air:
		p.fill(x, y, colourAdded)
	case now == air:
		p.fill(x, y, colourRemoved)
	default:
		p.fill(x, y, colourChanged)
	}
}

func (p *Picture) fill(x, y int, c color.NRGBA) {
	for j := y * p.scale; j < (y+1)*p.scale; j++ {
		for i := x * p.scale; i < (x+1)*p.scale; i++ {
			if image.Pt(i, j).In(p.img.Bounds()) {
				p.img.SetNRGBA(i, j, c)
			}
		}
	}
}

// Encode writes the picture as PNG.
func (p *Picture) Encode(w io.Writer) error { return png.Encode(w, p.img) }
