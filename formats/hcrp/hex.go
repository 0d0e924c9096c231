package hcrp

import (
	"encoding/hex"
	"fmt"
)

// The hex view prints 16 bytes a line, as hexdump -Cv does but without its last line.
const (
	hexRow   = 16
	hexExtra = 63      // bytes of a line besides its text
	hexPart  = 1 << 12 // bytes whose lines are made at once
)

// hexSize returns the size of the hex view of n bytes.
func hexSize(n int64) int64 { return (n+hexRow-1)/hexRow*hexExtra + n }

// hexLines returns the hex view of a part of a body, which begins at an offset.
func hexLines(part []byte, offset int) []byte {
	text := []byte(hex.Dump(part))
	for at := 0; at < len(text); at += hexExtra + hexRow {
		copy(text[at:], fmt.Sprintf("%08x", offset))
		offset += hexRow
	}
	return text
}
