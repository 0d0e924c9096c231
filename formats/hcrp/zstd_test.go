package hcrp

import (
	"bytes"
	"errors"
	"testing"

	"recfs/formats"

	"github.com/klauspost/compress/zstd"
)

// TestFramesWithoutSize expands frames that do not tell their size, much more
// than their bytes let expect.
func TestFramesWithoutSize(t *testing.T) {
	var sum bytes.Buffer
	body := bytes.Repeat([]byte("0123456789abcdef"), 10000)
	for range 2 { // two frames
		enc, err := zstd.NewWriter(&sum, zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := enc.Write(body); err != nil {
			t.Fatal(err)
		}
		if err := enc.Close(); err != nil {
			t.Fatal(err)
		}
	}
	frames := sum.Bytes()
	want := append(bytes.Clone(body), body...)
	u := newUnpacker(nil, Limits{}.withDefaults())
	unpack := func(b []byte, size int) ([]byte, error) {
		return u.unpack(t.Context(), formats.BytesReader(b), 0, int64(len(b)), int64(size))
	}
	for range 2 { // and the decompressor is as good as new
		got, err := unpack(frames, len(want))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v; want %d", len(got), err, len(want))
		}
		if _, err := unpack(frames, len(want)-1); !errors.Is(err, errTooLong) {
			t.Errorf("a byte too much: %v", err)
		}
		if got, err := unpack(frames, len(want)+9); err != nil || !bytes.Equal(got, want) {
			t.Errorf("less than allowed: %d bytes, %v", len(got), err)
		}
		if _, err := unpack(frames[:len(frames)-1], len(want)); err == nil {
			t.Error("a frame that is cut expands")
		}
	}
}
