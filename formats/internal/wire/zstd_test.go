package wire

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// frameWithoutSize returns body in a frame that does not tell its size.
func frameWithoutSize(t *testing.T, body []byte, opts ...zstd.EOption) []byte {
	t.Helper()
	var frame bytes.Buffer
	enc, err := zstd.NewWriter(&frame, append(opts, zstd.WithEncoderConcurrency(1))...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(enc, bytes.NewReader(body)); err != nil {
		t.Fatal(err)
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	return frame.Bytes()
}

// TestFramesWithoutSize expands much more than the bytes of the frames let expect.
func TestFramesWithoutSize(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 10000)
	frame := frameWithoutSize(t, body)
	frames, want := append(bytes.Clone(frame), frame...), append(bytes.Clone(body), body...)
	size := int64(len(want))
	z := NewZstd(zstdWindow)
	for range 2 { // and the decoder is as good as new
		for _, limit := range []int64{size, size + 9} {
			if got, err := z.Expand(frames, limit); err != nil || !bytes.Equal(got, want) {
				t.Errorf("a limit of %d: %d bytes, %v; want %d", limit, len(got), err, size)
			}
		}
		if got, err := z.Expand(frames, size-1); !isSize(err) || !bytes.Equal(got, want[:size-1]) {
			t.Errorf("a byte too much: %d bytes, %v", len(got), err)
		}
		if got, err := z.Expand(frames[:len(frames)-1], size); err == nil || isSize(err) {
			t.Errorf("a frame that is cut: %d bytes, %v", len(got), err)
		}
	}
}

// TestUnzstdTo expands in memory that has other bytes, enough of it or not, and to other memory
// where it does not suffice.
func TestUnzstdTo(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 10000)
	frame := frameWithoutSize(t, body)
	for _, room := range []int{0, 1, 1000, len(body), len(body) + 1, 1 << 20} {
		dst := bytes.Repeat([]byte("x"), room)
		got, err := UnzstdTo(dst, frame, int64(len(body)))
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("in %d bytes: %d bytes, %v", room, len(got), err)
		}
		if room > len(body) && &got[0] != &dst[0] {
			t.Errorf("%d bytes are not made use of", room)
		}
		if got, err := UnzstdTo(dst, frame, int64(len(body)-1)); !isSize(err) || !bytes.Equal(got, body[:len(body)-1]) {
			t.Errorf("a byte too much in %d: %d bytes, %v", room, len(got), err)
		}
		if got, err := UnzstdTo(dst, frame[:len(frame)-9], int64(len(body))); err == nil || !bytes.HasPrefix(body, got) {
			t.Errorf("cut, in %d: %d bytes, %v", room, len(got), err)
		}
	}
}

// TestZstdOptions expands a frame that needs a dictionary and a window.
func TestZstdOptions(t *testing.T) {
	dict := bytes.Repeat([]byte("what stands in every chunk, "), 9)
	body := append(bytes.Clone(dict), bytes.Repeat([]byte("x"), 5000)...)
	frame := frameWithoutSize(t, body, zstd.WithEncoderDictRaw(7, dict), zstd.WithWindowSize(4<<10))
	known := zstd.WithDecoderDictRaw(7, dict)
	for _, c := range []struct {
		name  string
		z     *Zstd
		sound bool
	}{
		{"dictionary and window", NewZstd(4<<10, known), true},
		{"no dictionary", NewZstd(4 << 10), false},
		{"a smaller window", NewZstd(1<<10, known), false},
	} {
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				got, err := c.z.Expand(frame, 1<<20)
				if (err == nil) != c.sound || c.sound && !bytes.Equal(got, body) {
					t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
				}
			})
		}
		readers.Wait()
	}
	if b, err := NewZstd(zstdWindow, zstd.WithDecoderDicts([]byte("no dictionary"))).Expand(frame, 10); err == nil {
		t.Errorf("with a dictionary that is none: %q", b)
	}
}

// TestUnnamedDictionary expands frames that need a dictionary and do not name it.
func TestUnnamedDictionary(t *testing.T) {
	dict := bytes.Repeat([]byte("what stands in every chunk, "), 9)
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(7, dict))
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	body := append(bytes.Clone(dict), bytes.Repeat([]byte("x"), 5000)...)
	known := NewZstd(zstdWindow, zstd.WithDecoderDictRaw(7, dict))
	assuming := NewZstd(zstdWindow, zstd.WithDecoderDictRaw(7, dict)).Assume(7)
	for _, test := range []struct{ body, frame []byte }{
		{body, frameWithoutSize(t, body, zstd.WithEncoderDictRaw(7, dict))},
		{body, enc.EncodeAll(body, nil)},
		{body[:200], enc.EncodeAll(body[:200], nil)},
	} {
		want, frame := test.body, test.frame
		var h zstd.Header
		if err := h.Decode(frame); err != nil || h.DictionaryID != 7 {
			t.Fatal(err, h.DictionaryID)
		}
		at := 5
		if !h.SingleSegment {
			at++
		}
		unnamed := slices.Delete(bytes.Clone(frame), at, at+1)
		unnamed[4] &^= 3
		two := slices.Concat(frame, []byte("\x50\x2a\x4d\x18\x01\x00\x00\x00-"), unnamed)
		if got, err := assuming.Expand(two, 1<<20); !bytes.Equal(got, slices.Concat(want, want)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if got, err := known.Expand(unnamed, 1<<20); err == nil {
			t.Errorf("without the dictionary: %d bytes", len(got))
		}
		if _, err := assuming.Expand(unnamed[:len(unnamed)-1], 1<<20); err == nil {
			t.Error("a frame without its last byte is whole")
		}
	}
}
