package echoreplay

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zip"

	"recfs/formats/internal/echovr"
	"recfs/formats/internal/formatstest"
)

// An index on disk with any content, and the right checksum, does no harm.
func TestForgedIndex(t *testing.T) {
	formatstest.Forged(t, Format,
		"../../testdata/archive/butter/first-24-frames.echoreplay")
}

// A saved chunk that has more parts or frames than one that was scanned is not used: going through them takes the square of
// their number.
func TestForgedParts(t *testing.T) {
	for what, info := range map[string]*echovr.ChunkInfo{
		"parts":  {Parts: make([]echovr.Part, maxParts+1)},
		"frames": {Lines: make([]uint32, chunkFrames+1)},
	} {
		if soundParts(info) {
			t.Errorf("more %s than there can be", what)
		}
	}
	most := &echovr.ChunkInfo{Parts: make([]echovr.Part, maxParts), Lines: make([]uint32, chunkFrames)}
	if !soundParts(most) {
		t.Error("as many as there can be")
	}
}

// An index that is made in stretches is that of one pass.
func TestPrefixes(t *testing.T) {
	text := append(bytes.Repeat(textOf(70), 10), "\n\r\n\n"...)
	copy(text[len(text)/2:], "no frame\nand no other\n")
	packed := zipOf(t, text, zip.Deflate, "x")
	formatstest.Prefixes(t, Format, text, packed, packed[:len(packed)*3/4])
}
