package datafile

import "context"

// The bytes of a pixel without and with its alpha.
const (
	rgbPixel  = 3
	rgbaPixel = 4
)

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

// pixels are those of an embedded image, without what is stored.
func (o *Image) pixels() *Tiles {
	t := &Tiles{Width: int(o.Width), Height: int(o.Height), size: rgbaPixel}
	if o.variant() == variantRGB {
		t.size = rgbPixel
	}
	return t
}

// checkImage finds what the item and the tables alone say about whether an embedded image can be
// shown, but not how long its data is if that is faulty. name is for the message.
func (r *Reader) checkImage(o *Image, name string, faulty map[int32]bool) error {
	offset := r.Items[o.Item].Offset
	if err := r.checkRef(o.Data, offset, "image "+itoa(o.Index)); err != nil {
		return err
	}
	if v := o.variant(); v != variantRGB && v != variantRGBA {
		return fault("image_format", offset, "image %d %.80q has variant %d", o.Index, name, v)
	}
	if there := r.Data[o.Data].Size; !faulty[o.Data] && (o.Width < 1 || o.Height < 1 || there < o.pixels().length()) {
		return fault("image_size", offset, "image %d %.80q has %dx%d %s pixels, data %d has %d bytes",
			o.Index, name, o.Width, o.Height, o.format(), o.Data, there)
	}
	return nil
}

// imageRaster returns the pixels of an image: as RGBA, or as RGB if every one is opaque.
func imageRaster(ctx context.Context, t *Tiles) (*raster, error) {
	from := &rows{Tiles: t}
	p := &raster{width: t.Width, height: t.Height, kind: pngRGB, draw: from.part}
	if t.size == rgbPixel {
		return p, nil
	}
	err := t.each(ctx, func(_ int, pixels []byte) error {
		if !opaque(pixels) {
			return errEnough
		}
		return nil
	})
	switch {
	case err == errEnough:
		p.kind = pngRGBA
		return p, nil
	case err != nil:
		return nil, err
	}
	rgb := make([]byte, rgbPixel*min(t.Width, maxPart))
	p.draw = func(ctx context.Context, x, y, n int) ([]byte, error) {
		pixels, err := from.part(ctx, x, y, n)
		dropAlpha(rgb[:rgbPixel*n], pixels)
		return rgb[:rgbPixel*n], err
	}
	return p, nil
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
	for i := 0; i < len(pixels); i += rgbaPixel {
		rgb[0], rgb[1], rgb[2] = pixels[i], pixels[i+1], pixels[i+2]
		rgb = rgb[rgbPixel:]
	}
}
