package wire_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/zlib"

	"recfs/formats/internal/wire"
)

// TestZlibDamage cuts and changes a stream everywhere and holds that Zlib then fails like the
// library does, and otherwise gives the same bytes and leaves the same rest, and that a ZlibReader
// gives what the library gives.
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
		expected, failure := inflate(zlib.NewReader(in))
		streamed, streamErr := inflate(wire.NewZlibReader(bytes.NewReader(src)))
		if !bytes.Equal(streamed, expected) || streamErr != failure {
			t.Errorf("case %d: %d bytes, %v; the library: %d bytes, %v", i, len(streamed), streamErr, len(expected), failure)
		}
		got, rest, err := wire.Zlib(src, int64(len(want)))
		whole := failure == nil && len(expected) == len(want)
		if (err == nil) != whole || whole && (!bytes.Equal(got, expected) || rest != in.Len()) {
			t.Errorf("case %d: %d bytes, %d left, %v; the library: %d bytes, %d left, %v",
				i, len(got), rest, err, len(expected), in.Len(), failure)
		}
	}
}

func inflate(r io.Reader, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
