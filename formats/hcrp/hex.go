package hcrp

import (
	"context"
	"encoding/hex"
	"io"
)

// The hex view prints 16 bytes a line, as hexdump -Cv does but without its last line: offset, bytes
// in two groups, and the printable ASCII ones.
const (
	hexRow   = 16
	hexText  = 61          // where the text begins: 8 digits, 2 spaces, 49 for the bytes, space, bar
	hexExtra = hexText + 2 // bytes of a line besides its text
)

// hexSize returns the size of the hex view of n bytes.
func hexSize(n int64) int64 { return (n+hexRow-1)/hexRow*hexExtra + n }

// A hexView is the hex view of a body, made as it is read.
type hexView []byte

// ReadAt implements nodes.ReaderAt.
func (v hexView) ReadAt(_ context.Context, b []byte, off int64) (n int, err error) {
	const line = hexExtra + hexRow
	var buf [line]byte
	for row := off / line; n < len(b); row++ {
		at := row * hexRow
		if at >= int64(len(v)) {
			return n, io.EOF
		}
		text := appendHexLine(buf[:0], at, v[at:min(at+hexRow, int64(len(v)))])
		if skip := off + int64(n) - row*line; skip < int64(len(text)) {
			n += copy(b[n:], text[skip:])
		} else {
			return n, io.EOF
		}
	}
	return n, nil
}

func appendHexLine(dst []byte, at int64, b []byte) []byte {
	start := len(dst)
	dst = hex.AppendEncode(dst, []byte{byte(at >> 24), byte(at >> 16), byte(at >> 8), byte(at)})
	dst = append(dst, ' ')
	for i, c := range b {
		if i%8 == 0 {
			dst = append(dst, ' ')
		}
		dst = append(hex.AppendEncode(dst, []byte{c}), ' ')
	}
	for len(dst)-start < hexText-1 {
		dst = append(dst, ' ')
	}
	dst = append(dst, '|')
	for _, c := range b {
		if c < ' ' || c > '~' {
			c = '.'
		}
		dst = append(dst, c)
	}
	return append(dst, '|', '\n')
}
