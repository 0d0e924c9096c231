package datafile

import (
	"bytes"
	"cmp"
	"context"
	"image"

	"recfs/formats"
)

// rgbaPixel is the bytes of a pixel with its alpha.
const rgbaPixel = 4

// variant returns how the pixels are stored.
func (o *Image) variant() int32 {
	if o.Variant == nil {
		return variantRGBA
	}
	return *o.Variant
}

// format is the name of the variant.
func (o *Image) format() string {
	switch o.variant() {
	case variantRGB:
		return "RGB"
	case variantRGBA:
		return "RGBA"
	}
	return "unknown"
}

// pixelBytes is the length of an embedded image that passed checkImage.
func (o *Image) pixelBytes() int64 {
	perPixel := int64(4)
	if o.variant() == variantRGB {
		perPixel = 3
	}
	return int64(o.Width) * int64(o.Height) * perPixel
}

// checkImage finds what the item and the tables alone say about whether an embedded image can be
// shown. name is for the message.
func (r *Reader) checkImage(o *Image, name string) error {
	if err := r.checkImageItem(o, name); err != nil {
		return err
	}
	return r.checkPixels(o, name)
}

// checkImageItem looks at the fields of an image.
func (r *Reader) checkImageItem(o *Image, name string) error {
	offset := r.Items[o.Item].Offset
	if err := r.checkRef(o.Data, offset, "image "+itoa(o.Index)); err != nil {
		return err
	}
	if v := o.variant(); v != variantRGB && v != variantRGBA {
		return fault("image_format", offset, "image %d %.80q has variant %d", o.Index, name, v)
	}
	return nil
}

// checkPixels checks the dimensions of an image that passed checkImageItem against the length of
// its data.
func (r *Reader) checkPixels(o *Image, name string) error {
	if there := r.Data[o.Data].Size; o.Width < 1 || o.Height < 1 || there < o.pixelBytes() {
		return fault("image_size", r.Items[o.Item].Offset, "image %d %.80q has %dx%d %s pixels, data %d has %d bytes",
			o.Index, name, o.Width, o.Height, o.format(), o.Data, there)
	}
	return nil
}

// decode returns the pixels of an embedded image that passed checkImage.
func (o *Image) decode(data []byte) *image.NRGBA {
	w, h := int(o.Width), int(o.Height)
	data = data[:o.pixelBytes()]
	if o.variant() == variantRGBA {
		return &image.NRGBA{Pix: data, Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}
	}
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := 0; i < w*h; i++ {
		copy(m.Pix[4*i:], data[3*i:3*i+3])
		m.Pix[4*i+3] = 0xff
	}
	return m
}

// raster returns the pixels of an embedded image that passed checkImage: as RGBA, or as RGB if every
// one is opaque.
func (o *Image) raster(data []byte) *raster {
	w, h := int(o.Width), int(o.Height)
	data = data[:o.pixelBytes()]
	stride := len(data) / h
	p := &raster{width: w, height: h, kind: pngRGB, row: func(y int) []byte { return data[y*stride : (y+1)*stride] }}
	switch {
	case o.variant() == variantRGB:
	case !opaque(data):
		p.kind = pngRGBA
	default:
		rgb := make([]byte, 3*w)
		p.row = func(y int) []byte {
			dropAlpha(rgb, data[y*stride:(y+1)*stride])
			return rgb
		}
	}
	return p
}

// imageRows are the rows of an image whose pixels are too many to be held in memory. After an error they are not
// what is stored.
type imageRows struct {
	*Image
	ctx    context.Context
	pixels formats.ReaderAt
	row    []byte // as it is stored
	wide   []byte // as RGBA, if it is RGB
	err    error
}

// streamed reports whether the pixels of an image are too many to be held.
func (v *view) streamed(o *Image) bool {
	return v.r.checkImage(o, "") == nil && !o.External && v.r.Data[o.Data].Size > v.large && v.r.compressed(int(o.Data))
}

// streamRows returns the rows of an image that passed checkImage.
func (v *view) streamRows(ctx context.Context, o *Image) (*imageRows, error) {
	pixels, err := v.r.stream(int(o.Data))
	if err != nil {
		return nil, err
	}
	if _, err := formats.Charge(ctx, streamedImage(o)); err != nil {
		return nil, err
	}
	stride := o.pixelBytes() / int64(o.Height)
	return &imageRows{Image: o, ctx: ctx, pixels: pixels, row: make([]byte, stride)}, nil
}

// streamedImage is about what the rows of an image take.
func streamedImage(o *Image) int64 { return 2*inflaterCost + 2*o.pixelBytes()/int64(o.Height) }

// stored returns row y as it is stored.
func (r *imageRows) stored(y int) []byte {
	if r.err == nil {
		if n, err := r.pixels.ReadAt(r.ctx, r.row, int64(y)*int64(len(r.row))); n < len(r.row) {
			r.err = err
		}
	}
	return r.row
}

// rgba returns row y as RGBA.
func (r *imageRows) rgba(y int) []byte {
	row := r.stored(y)
	if r.variant() == variantRGBA {
		return row
	}
	if r.wide == nil {
		r.wide = bytes.Repeat([]byte{0xff}, rgbaPixel*int(r.Width))
	}
	for x := range int(r.Width) {
		copy(r.wide[rgbaPixel*x:], row[3*x:3*x+3])
	}
	return r.wide
}

// raster is [Image.raster].
func (r *imageRows) raster() (*raster, error) {
	whole := r.variant() == variantRGBA
	for y := 0; whole && y < int(r.Height) && r.err == nil && r.ctx.Err() == nil; y++ {
		whole = opaque(r.stored(y))
	}
	p := &raster{width: int(r.Width), height: int(r.Height), kind: pngRGB, failure: func() error { return r.err }, row: r.stored}
	switch {
	case r.variant() == variantRGB:
	case !whole:
		p.kind = pngRGBA
	default:
		rgb := make([]byte, 3*p.width)
		p.row = func(y int) []byte {
			dropAlpha(rgb, r.stored(y))
			return rgb
		}
	}
	return p, cmp.Or(r.err, r.ctx.Err())
}

// opaque reports whether all RGBA pixels are.
func opaque(pixels []byte) bool {
	for i := 3; i < len(pixels); i += 4 {
		if pixels[i] != 0xff {
			return false
		}
	}
	return true
}

// dropAlpha sets rgb to the colours of RGBA pixels.
func dropAlpha(rgb, pixels []byte) {
	for i := 0; len(rgb) >= 3; i += 4 {
		rgb[0], rgb[1], rgb[2] = pixels[i], pixels[i+1], pixels[i+2]
		rgb = rgb[3:]
	}
}
