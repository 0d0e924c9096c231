package datafile

import (
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"image/color"
)

// A picture is drawn by this package. Its PNG file stores the rows without compressing them, so
// that the size follows from the dimensions and a listing draws nothing.
type picture struct {
	width, height int
	palette       color.Palette // nil: three bytes a pixel, red green blue
	rows          []byte
}

// Parts of a PNG file (PNG specification, section 5).
const (
	pngSignature  = "\x89PNG\r\n\x1a\n"
	pngChunk      = 12 // length, type and CRC of a chunk
	pngHeader     = 13
	pngIndexed    = 3
	pngRGB        = 2
	zlibFrame     = 6 // header and checksum
	storedHead    = 5 // of a block
	storedMax     = 0xffff
	bytesPerPixel = 3
)

// pngSize is the size of the file of a picture with a palette of that many colours; 0 means RGB.
func pngSize(width, height int64, colors int) int64 {
	pixel, palette := int64(bytesPerPixel), int64(0)
	if colors > 0 {
		pixel, palette = 1, pngChunk+3*int64(colors)
	}
	raw := height * (1 + width*pixel)
	blocks := (raw + storedMax - 1) / storedMax
	return int64(len(pngSignature)) + pngChunk + pngHeader + palette +
		pngChunk + zlibFrame + storedHead*blocks + raw + pngChunk
}

// png returns the file.
func (p *picture) png() []byte {
	b := make([]byte, 0, pngSize(int64(p.width), int64(p.height), len(p.palette)))
	b = append(b, pngSignature...)
	b = appendChunk(b, "IHDR", func(b []byte) []byte {
		b = binary.BigEndian.AppendUint32(b, uint32(p.width))
		b = binary.BigEndian.AppendUint32(b, uint32(p.height))
		kind := byte(pngRGB)
		if p.palette != nil {
			kind = pngIndexed
		}
		return append(b, 8, kind, 0, 0, 0)
	})
	if p.palette != nil {
		b = appendChunk(b, "PLTE", func(b []byte) []byte {
			for _, c := range p.palette {
				r, g, bl, _ := c.RGBA()
				b = append(b, byte(r>>8), byte(g>>8), byte(bl>>8))
			}
			return b
		})
	}
	b = appendChunk(b, "IDAT", p.appendRows)
	return appendChunk(b, "IEND", func(b []byte) []byte { return b })
}

func appendChunk(b []byte, kind string, body func([]byte) []byte) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	b = body(append(b, kind...))
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-8))
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start+4:]))
}

// appendRows appends the rows, each after filter type 0, as stored blocks of a zlib stream.
func (p *picture) appendRows(b []byte) []byte {
	stride := len(p.rows) / p.height
	left := len(p.rows) + p.height
	room := 0
	sum := adler32.New()
	b = append(b, 0x78, 0x01)
	write := func(part []byte) {
		_, _ = sum.Write(part)
		for len(part) > 0 {
			if room == 0 {
				room = min(left, storedMax)
				left -= room
				b = appendStoredHead(b, room, left == 0)
			}
			n := min(room, len(part))
			b = append(b, part[:n]...)
			part = part[n:]
			room -= n
		}
	}
	for y := range p.height {
		write([]byte{0})
		write(p.rows[y*stride : (y+1)*stride])
	}
	return binary.BigEndian.AppendUint32(b, sum.Sum32())
}

// appendStoredHead appends the head of a stored block (RFC 1951, section 3.2.4).
func appendStoredHead(b []byte, n int, final bool) []byte {
	flag := byte(0)
	if final {
		flag = 1
	}
	b = append(b, flag)
	b = binary.LittleEndian.AppendUint16(b, uint16(n))
	return binary.LittleEndian.AppendUint16(b, ^uint16(n))
}

// collisionPalette holds the colours of collision.png.
var collisionPalette = color.Palette{
	rgb(0xf2f2ee), // 0 air
	rgb(0x8a6d4f), // 1 solid
	rgb(0xd43d2a), // 2 death
	rgb(0x4d525c), // 3 unhookable
	rgb(0x22314a), // 4 freeze
	rgb(0xa9d6ee), // 5 unfreeze
	rgb(0x2f9e44), // 6 start
	rgb(0xf2c037), // 7 finish
	rgb(0x7fc8a9), // 8 checkpoint
	rgb(0xb14fc5), // 9 entity
	rgb(0x9aa0a8), // 10 anything else
}

func rgb(v uint32) color.Color {
	return color.RGBA{byte(v >> 16), byte(v >> 8), byte(v), 0xff}
}

// collisionColor returns the entry of the palette for an index of the game layer.
func collisionColor(index byte) byte {
	switch {
	case index <= 3:
		return index
	case index == 9 || index == 12:
		return 4
	case index == 11 || index == 13:
		return 5
	case index == 33:
		return 6
	case index == 34:
		return 7
	case index >= 35 && index <= 59:
		return 8
	case index >= 192:
		return 9
	}
	return 10
}

// drawCollision draws the game layer, one pixel a tile.
func drawCollision(t *Tiles) *picture {
	var colors [256]byte
	for i := range colors {
		colors[i] = collisionColor(byte(i))
	}
	p := &picture{t.Width, t.Height, collisionPalette, make([]byte, t.Width*t.Height)}
	for i := range p.rows {
		p.rows[i] = colors[t.Records[i*t.size]]
	}
	return p
}
