package datafile

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image/color"
	"slices"
	"sync"

	"github.com/klauspost/compress/flate"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

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

// variantNames are the variants that are known.
var variantNames = map[int32]string{variantRGB: "RGB", variantRGBA: "RGBA"}

// format is the name of the variant.
func (o *Image) format() string { return cmp.Or(variantNames[o.variant()], "unknown") }

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
	if v := o.variant(); variantNames[v] == "" {
		return fault("image_format", offset, "image %d %.80q has variant %d", o.Index, name, v)
	}
	there, pixels := r.Data[o.Data].Size, int64(o.Width)*int64(o.Height) // their bytes may be too many for an int64
	if !faulty[o.Data] && (o.Width < 1 || o.Height < 1 || there/int64(o.pixels().size) < pixels) {
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

// A raster is what a PNG file shows: a picture that is made row by row. All PNG files of a
// tree are written from one: the standard encoder tries five filters for each row, which takes four
// times as long and saves a twentieth on the pictures of maps.
type raster struct {
	width, height int
	kind          byte
	palette       []color.NRGBA // of pngIndexed

	// draw returns the bytes of n pixels of row y from x on, which the next call may change. They
	// are asked for from the top left, each once, at most maxPart at once.
	draw func(ctx context.Context, x, y, n int) ([]byte, error)
}

// Kinds of pixels of a PNG file: its colour types for 8 bits a channel (PNG specification, section
// 11.2.2).
const (
	pngRGB     = 2 // red green blue
	pngIndexed = 3 // a position in the palette
	pngRGBA    = 6 // red green blue alpha, not multiplied
)

const (
	pngSignature = "\x89PNG\r\n\x1a\n"

	// pngLevel is the level of compression. On the images of 50 maps of the games level 4 takes an
	// eighth longer and saves a twelfth.
	pngLevel = 2
)

// png returns the PNG file.
func (p *raster) png(ctx context.Context) ([]byte, error) {
	b := appendChunk([]byte(pngSignature), "IHDR", func(b []byte) []byte {
		b = binary.BigEndian.AppendUint32(b, uint32(p.width))
		b = binary.BigEndian.AppendUint32(b, uint32(p.height))
		return append(b, 8, p.kind, 0, 0, 0)
	})
	if p.kind == pngIndexed {
		b = p.appendPalette(b)
	}
	var err error
	b = appendChunk(b, "IDAT", func(b []byte) []byte {
		b, err = p.appendRows(ctx, b)
		return b
	})
	if err != nil {
		return nil, err
	}
	return slices.Clone(appendChunk(b, "IEND", func(b []byte) []byte { return b })), nil
}

// appendChunk appends a chunk (PNG specification, section 5.3).
func appendChunk(b []byte, kind string, body func([]byte) []byte) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	b = body(append(b, kind...))
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-8))
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start+4:]))
}

// appendPalette appends the colours, and how opaque they are if not all are.
func (p *raster) appendPalette(b []byte) []byte {
	opaque := true
	b = appendChunk(b, "PLTE", func(b []byte) []byte {
		for _, c := range p.palette {
			b = append(b, c.R, c.G, c.B)
			opaque = opaque && c.A == 0xff
		}
		return b
	})
	if opaque {
		return b
	}
	return appendChunk(b, "tRNS", func(b []byte) []byte {
		for _, c := range p.palette {
			b = append(b, c.A)
		}
		return b
	})
}

// compressors are writers that are not in use: each has tables of half a megabyte.
var compressors = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, pngLevel) // it fails only for a level that there is not
	return w
}}

// appendRows appends the zlib stream (RFC 1950) of the rows, each after filter type 0.
func (p *raster) appendRows(ctx context.Context, b []byte) ([]byte, error) {
	held, err := formats.Charge(ctx, 0)
	if err != nil {
		return b, err
	}
	defer held.Free()
	out := &appender{append(b, 0x78, 0x5e), held, 0}
	w := compressors.Get().(*flate.Writer)
	defer compressors.Put(w)
	w.Reset(out)
	sum, filter := uint32(1), []byte{0}
	write := func(part []byte) error {
		sum = wire.Adler32(sum, part)
		_, err := w.Write(part)
		return err
	}
	for y := range p.height {
		err := cmp.Or(ctx.Err(), write(filter))
		for x := 0; err == nil && x < p.width; x += maxPart {
			var part []byte
			if part, err = p.draw(ctx, x, y, min(maxPart, p.width-x)); err == nil {
				err = write(part)
			}
		}
		if err != nil {
			return b, err
		}
	}
	err = w.Close()
	return binary.BigEndian.AppendUint32(out.b, sum), err
}

// An appender is a writer that appends. What it holds is charged.
type appender struct {
	b       []byte
	held    *formats.Held
	charged int
}

// Write implements io.Writer.
func (a *appender) Write(p []byte) (int, error) {
	if n := 2 * (len(a.b) + len(p)); n > a.charged+pngFree {
		more := max(n, 2*a.charged) - a.charged
		if err := a.held.Grow(int64(more)); err != nil {
			return 0, err
		}
		a.charged += more
	}
	a.b = append(a.b, p...)
	return len(p), nil
}

// pngMemory is about what making a PNG file of so many bytes takes. For one larger than maxGuess
// the rest is counted while it is made.
func pngMemory(size int64) int64 { return 2 * min(size, maxGuess) }

const (
	maxGuess = 4 << 20
	pngRatio = 64 // about how many times as large the rows of a large picture are
)

// pngFree is up to how many bytes a picture is as good as nothing.
const pngFree = 256 << 10
