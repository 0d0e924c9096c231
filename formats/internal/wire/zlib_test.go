package wire_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/zlib"

	"recfs/formats/internal/wire"
)

// TestZlibDamage cuts and changes a stream everywhere and holds that Zlib then fails like the library
// does, and otherwise gives the same bytes and leaves the same rest.
func TestZlibDamage(t *testing.T) {
	want := bytes.Repeat([]byte("the same again and "), 20)
	var buf bytes.Buffer
	w := zlib.NewWriter(&buf)
	_, err := w.Write(want)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	stream := append(buf.Bytes(), "rest"...)
	var cases [][]byte
	for i := range stream {
		cases = append(cases, stream[:i])
		for bit := range 8 {
			changed := bytes.Clone(stream)
			changed[i] ^= 1 << bit
			cases = append(cases, changed)
		}
	}
	for i, src := range append(cases, stream) {
		in := bytes.NewReader(src)
		expected, failure := inflate(in)
		got, rest, err := wire.Zlib(src, int64(len(want)))
		whole := failure == nil && len(expected) == len(want)
		if (err == nil) != whole || whole && (!bytes.Equal(got, expected) || rest != in.Len()) {
			t.Errorf("case %d: %d bytes, %d left, %v; the library: %d bytes, %d left, %v",
				i, len(got), rest, err, len(expected), in.Len(), failure)
		}
	}
}

func inflate(in *bytes.Reader) ([]byte, error) {
	r, err := zlib.NewReader(in)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
