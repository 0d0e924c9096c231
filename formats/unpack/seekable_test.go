package unpack_test

import (
	"encoding/binary"
	"testing"

	"recfs/formats"
	"recfs/formats/unpack"
)

// TestSeekTableIsBounded opens a table of no frames, which is small in a file and large in memory.
func TestSeekTableIsBounded(t *testing.T) {
	const n = unpack.MaxFrames + 1
	b := binary.LittleEndian.AppendUint32(nil, 0x184D2A5E)
	b = binary.LittleEndian.AppendUint32(b, 8*n+9)
	b = append(b, make([]byte, 8*n)...)
	b = append(binary.LittleEndian.AppendUint32(b, n), 0)
	b = binary.LittleEndian.AppendUint32(b, 0x8F92EAB1)
	dir := t.TempDir()
	writeFile(t, dir, "a.zst", b)
	p, k := openUnpacker(t, dir, "a.zst", "")
	c, err := p.Open(t.Context(), k, formats.BytesReader(b), unpack.Choice{Streams: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := c.ReaderAt.(*unpack.Stream); !ok {
		t.Error("it is used as it is")
	}
}
