package datafile

import (
	"bytes"
	"image"
	"image/png"
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

// encodePNG writes m as RGBA, or as RGB if every pixel is opaque.
func encodePNG(m image.Image, level png.CompressionLevel) ([]byte, error) {
	var buf bytes.Buffer
	enc := png.Encoder{CompressionLevel: level}
	if err := enc.Encode(&buf, m); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
