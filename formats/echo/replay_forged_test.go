package echo

import (
	"bytes"
	"testing"
	"time"

	"github.com/klauspost/compress/zip"

	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// An index on disk with any content, and the right checksum, does no harm.
func TestForgedReplay(t *testing.T) {
	formatstest.Forged(t, Replay,
		"../../testdata/archive/butter/first-24-frames.echoreplay")
}

// A saved chunk that has more parts or frames than one that was scanned is not used: going through
// them takes the square of their number.
func TestForgedReplayParts(t *testing.T) {
	for what, info := range map[string]*ChunkInfo{
		"parts":  {Parts: make([]Part, maxParts+1)},
		"frames": {Ticks: chunkFrames + 1},
	} {
		if soundParts(info) {
			t.Errorf("more %s than there can be", what)
		}
	}
	most := &ChunkInfo{Parts: make([]Part, maxParts), Ticks: chunkFrames}
	if !soundParts(most) {
		t.Error("as many as there can be")
	}
}

// An index that is made in stretches is that of one pass.
func TestReplayPrefixes(t *testing.T) {
	text := append(bytes.Repeat(textOf(70), 10), "\n\r\n\n"...)
	copy(text[len(text)/2:], "no frame\nand no other\n")
	packed := zipOf(t, text, zip.Deflate, "x")
	formatstest.Prefixes(t, Replay, text, packed, packed[:len(packed)*3/4])
}

// A pass that is made in stretches inflates once: nearly nothing of the file is read twice.
func TestStretchesGoOn(t *testing.T) {
	nodestest.Long(t)
	const chunks = 32 // 7 KB each, deflated, so that two are less than what is left of a stretch
	text := textOf(chunks * chunkFrames)
	for name, b := range map[string][]byte{"deflated": zipOf(t, text, zip.Deflate, "x"), "stored": zipOf(t, text, zip.Store, "x")} {
		in := formatstest.BytesInput("sample", b, time.Unix(1e9, 0))
		h, err := Replay.Open(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		read := int64(0)
		src := countingReader{in.ReaderAt, &read}
		var x formats.Index
		for i := range int64(4) {
			end := in.Size * (i + 1) / 4
			part := in
			part.ReaderAt, part.Size = nodes.SectionContent(src, 0, end), end
			if x, err = Replay.Scan(t.Context(), part, h, x); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(x.(*Index).Chunks); n != chunks || read > in.Size*5/4 {
			t.Errorf("%s: %d bytes are read of %d, %d chunks", name, read, in.Size, n)
		}
	}
}
