package wire

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"

	"recfs/nodes/nodestest"
)

// frameHead returns the beginning of a frame with flags, a window if flags say so, and a size in 4
// bytes.
func frameHead(single bool, window byte, size uint32) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x80}
	if single {
		b[4] |= 0x20
	} else {
		b = append(b, window)
	}
	return append(b, byte(size), byte(size>>8), byte(size>>16), byte(size>>24))
}

// What a frame says of its size and its window allocates nothing.
func TestFrameThatLies(t *testing.T) {
	const claimed = 60 << 20
	body := []byte{5 << 3, 0, 0, 'h', 'e', 'l', 'l', 'o', 1, 0, 0} // two blocks, which are stored
	const window = (26 - minWindow) << windowShift
	for name, frame := range map[string][]byte{
		"size":   append(frameHead(true, 0, claimed), body...),
		"window": append(frameHead(false, window, claimed), body...),
		"second": append(Pack([]byte("first")), append(frameHead(false, window, claimed), body...)...),
	} {
		want := "hello"
		if name == "second" {
			want = "firsthello"
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, err := NewZstd(zstdWindow).Expand(frame, 2*claimed)
		runtime.ReadMemStats(&after)
		if string(out) != want || err == nil {
			t.Errorf("%s: %q, %v", name, out, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
			t.Errorf("%s: %d bytes were allocated for %d", name, n, len(frame))
		}
	}
}

// A narrower window than a frame asks for gives the same bytes, up to the same damage.
func TestNarrowReader(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 300<<10)
	for i := range text {
		text[i] = byte(rnd.IntN(3))
	}
	wide, _ := zstd.NewWriter(nil, zstd.WithWindowSize(8<<20), zstd.WithSingleSegment(false), zstd.WithEncoderConcurrency(1))
	single, _ := zstd.NewWriter(nil, zstd.WithSingleSegment(true), zstd.WithEncoderConcurrency(1))
	frames := append(wide.EncodeAll(text, nil), single.EncodeAll(text, nil)...)
	frames = append(frames, 0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3) // skippable
	frames = append(frames, Pack(text[:1000])...)
	expand := func(r io.Reader) []byte {
		d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		defer d.Close()
		if d.Reset(r) != nil {
			return nil
		}
		b, _ := io.ReadAll(d)
		return b
	}
	for i := range nodestest.Times(300, 30) {
		b := bytes.Clone(frames)
		if i > 0 {
			b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
			b = b[:len(b)-rnd.IntN(len(b))]
		}
		want := expand(bytes.NewReader(b))
		for _, limit := range []int{1, 200 << 10, 1 << 20} {
			got := expand(&narrowReader{src: b, limit: int64(limit)})
			n := min(limit, len(want), len(got))
			if !bytes.Equal(got[:n], want[:n]) || len(got) < min(limit, len(want)) {
				t.Fatalf("%d: %d bytes up to %d, want %d", i, len(got), limit, len(want))
			}
		}
		if i == 0 && len(want) != 2*len(text)+1000 {
			t.Fatalf("%d bytes", len(want))
		}
	}
}
