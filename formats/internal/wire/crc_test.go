package wire_test

import (
	"bytes"
	"hash/crc32"
	"testing"

	"pgregory.net/rapid"

	"recfs/formats/internal/wire"
)

func TestCombineCRC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOf(rapid.Byte()).Draw(t, "a"), rapid.SliceOf(rapid.Byte()).Draw(t, "b")
		want := crc32.ChecksumIEEE(append(bytes.Clone(a), b...))
		if got := wire.CombineCRC(crc32.ChecksumIEEE(a), crc32.ChecksumIEEE(b), int64(len(b))); got != want {
			t.Fatalf("%#x, want %#x", got, want)
		}
	})
}
