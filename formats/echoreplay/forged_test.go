package echoreplay

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zip"

	"recfs/formats/internal/formatstest"
)

// An index on disk with any content, and the right checksum, does no harm.
func TestForgedIndex(t *testing.T) {
	formatstest.Forged(t, Format,
		"../../testdata/archive/butter/first-24-frames.echoreplay")
}

// An index that is made in stretches is that of one pass.
func TestPrefixes(t *testing.T) {
	text := append(bytes.Repeat(textOf(70), 10), "\n\r\n\n"...)
	copy(text[len(text)/2:], "no frame\nand no other\n")
	packed := zipOf(t, text, zip.Deflate, "x")
	formatstest.Prefixes(t, Format, text, packed, packed[:len(packed)*3/4])
}
