// Package pieces finds what recordings hold compressed, and puts other content in its place.
package pieces

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A Piece is compressed content inside a recording: an item of a map, a chunk of HCRP or butter, a
// save of NetHack.
type Piece struct {
	from, to int
	Content  []byte
	pack     func([]byte) []byte
}

const (
	maxPieces  = 200      // that are looked for in a file
	maxContent = 16 << 20 // of a piece that is changed
)

// Find returns the pieces of b by their magic numbers, as far as they can be unpacked.
func Find(b []byte) (all []Piece) {
	for at := 0; at+4 < len(b) && len(all) < maxPieces; at++ {
		for _, k := range kinds {
			if !k.begins(b[at:]) {
				continue
			}
			if content, n, ok := k.unpack(b[at:]); ok && n > 8 {
				all = append(all, Piece{at, at + n, content, k.pack})
				at += n - 1
				break
			}
		}
	}
	return all
}

// A pieceKind is one way of packing. unpack also returns how many bytes it took.
type pieceKind struct {
	begins func([]byte) bool
	unpack func([]byte) ([]byte, int, bool)
	pack   func([]byte) []byte
}

var kinds = []pieceKind{
	{prefix("\x28\xb5\x2f\xfd"), unpackZstd, pack(func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err) // the options are constant
		}
		return z
	})},
	{prefix("\x1f\x8b\x08"), unpackGzip, pack(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })},
	{func(b []byte) bool { return b[0] == 0x78 && (b[1] == 0x01 || b[1] == 0x9c || b[1] == 0xda) }, unpackZlib, packZlib},
	{prefix("$"), unpackBlob, packBlob},
}

func prefix(magic string) func([]byte) bool {
	return func(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }
}

// limited reads up to maxContent bytes, and reports whether there were no more and no error.
func limited(r io.Reader) ([]byte, bool) {
	content, err := io.ReadAll(io.LimitReader(r, maxContent+1))
	return content, err == nil && len(content) <= maxContent
}

func unpackZstd(b []byte) ([]byte, int, bool) {
	n, ok := zstdFrame(b)
	if !ok {
		return nil, 0, false
	}
	d, err := zstd.NewReader(bytes.NewReader(b[:n]), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxContent))
	if err != nil {
		return nil, 0, false
	}
	defer d.Close()
	content, ok := limited(d)
	return content, n, ok
}

// zstdFrame returns the length of a frame of Zstandard (RFC 8878, section 3.1.1) by the heads of
// its blocks.
func zstdFrame(b []byte) (int, bool) {
	var h zstd.Header
	if err := h.Decode(b); err != nil || h.Skippable {
		return 0, false
	}
	for at := h.HeaderSize; at+3 <= len(b); {
		block := int(b[at]) | int(b[at+1])<<8 | int(b[at+2])<<16
		size := block >> 3
		if block>>1&3 == 1 { // one byte, repeated
			size = 1
		}
		at += 3 + size
		if block&1 == 1 {
			if h.HasCheckSum {
				at += 4
			}
			return at, at <= len(b)
		}
	}
	return 0, false
}

func unpackGzip(b []byte) ([]byte, int, bool) {
	return unpack(b, func(r io.Reader) (io.Reader, error) {
		z, err := gzip.NewReader(r)
		if err == nil {
			z.Multistream(false)
		}
		return z, err
	})
}

func unpackZlib(b []byte) ([]byte, int, bool) {
	return unpack(b, func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) })
}

// unpack unpacks the stream that b begins with, by a reader that takes no more than that.
func unpack(b []byte, open func(io.Reader) (io.Reader, error)) ([]byte, int, bool) {
	r := bytes.NewReader(b)
	z, err := open(r)
	if err != nil {
		return nil, 0, false
	}
	content, ok := limited(z)
	return content, len(b) - r.Len(), ok
}

// pack returns what packs content by a writer; a buffer takes everything.
func pack(create func(io.Writer) io.WriteCloser) func([]byte) []byte {
	return func(content []byte) []byte {
		var b bytes.Buffer
		z := create(&b)
		_, _ = z.Write(content)
		_ = z.Close()
		return b.Bytes()
	}
}

var packZlib = pack(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })

// unpackBlob unpacks $SIZE$BASE64 of NetHack (docs/formats/nethack.md section 1.4).
func unpackBlob(b []byte) ([]byte, int, bool) {
	end := bytes.IndexAny(b, " \n")
	var size int
	if n, err := fmt.Sscanf(string(b[:min(len(b), 24)]), "$%d$", &size); n != 1 || err != nil || end < 0 {
		return nil, 0, false
	}
	text := b[1+bytes.IndexByte(b[1:], '$')+1 : end]
	packed, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return nil, 0, false
	}
	content, _, ok := unpackZlib(packed)
	return content, end, ok
}

func packBlob(content []byte) []byte {
	return fmt.Appendf(nil, "$%d$%s", len(content), base64.StdEncoding.EncodeToString(packZlib(content)))
}

// Replace gives a piece another content. So that readers get as far as it, numbers before the
// first piece that look like the length of this one or the place of a later one are corrected; a
// file in which they are something else is one more kind of damage.
func Replace(b []byte, pieces []Piece, i int, content []byte) []byte {
	p := pieces[i]
	packed := p.pack(content)
	moved := map[uint32]uint32{uint32(p.to - p.from): uint32(len(packed))}
	delta := len(packed) - (p.to - p.from)
	for _, later := range pieces[i+1:] {
		moved[uint32(later.from)] = uint32(later.from + delta)
		moved[uint32(later.from-pieces[0].from)] = uint32(later.from - pieces[0].from + delta)
	}
	out := slices.Concat(b[:p.from], packed, b[p.to:])
	head := out[:pieces[0].from]
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for at := 0; at+4 <= len(head); at++ {
			if to, ok := moved[order.Uint32(head[at:])]; ok && order.Uint32(head[at:]) > 16 {
				order.PutUint32(head[at:], to)
				at += 3
			}
		}
	}
	return out
}
