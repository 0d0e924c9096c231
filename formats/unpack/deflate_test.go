package unpack

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/formatstest"
	"recfs/formats/source"
	"recfs/nodes/nodestest"
)

// deflateSamples are what blocks of every kind come from: literals alone, short and long ways back, runs.
func deflateSamples() map[string][]byte {
	rnd := rand.NewChaCha8([32]byte{})
	noise := make([]byte, 70_000)
	rnd.Read(noise)
	skewed := make([]byte, 70_000) // its rarest bytes have long codes
	for i := range skewed {
		skewed[i] = byte(min(255, int(rand.New(rnd).ExpFloat64()*8)))
	}
	far := bytes.Clone(noise)
	copy(far[40_000:], far[8_000:9_000])
	return map[string][]byte{
		"nothing": {}, "a byte": {7}, "noise": noise, "skewed": skewed, "far": far,
		"zeros": make([]byte, 70_000), "seven": bytes.Repeat([]byte("seven.."), 10_000), "eight": bytes.Repeat([]byte("eight..."), 10_000),
		"text": formatstest.Compressible(70_000),
	}
}

func deflate(t testing.TB, level int, b []byte) []byte {
	t.Helper()
	return formatstest.Packed(t, b, func(w io.Writer) (*flate.Writer, error) { return flate.NewWriter(w, level) })
}

// sameInflate tells inflate by the decoder of the standard library: what that gives, if it has n bytes and then ends.
func sameInflate(t testing.TB, in []byte, n int, what string) {
	t.Helper()
	want, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(in)), int64(n)+1))
	got := bytes.Repeat([]byte{0xaa}, n)
	if ok := inflate(got, in); ok != (err == nil && len(want) == n) || ok && !bytes.Equal(got, want) {
		t.Errorf("%s: %t for %d bytes, want %d, %v", what, ok, n, len(want), err)
	}
}

// TestInflate decompresses what is sound, and nothing that is cut, damaged, longer or shorter.
func TestInflate(t *testing.T) {
	for name, content := range deflateSamples() {
		for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
			what := fmt.Sprintf("%s, level %d", name, level)
			packed := deflate(t, level, content)
			got := make([]byte, len(content))
			if !inflate(got, packed) || !bytes.Equal(got, content) {
				t.Fatalf("%s: it is not what it was", what)
			}
			sameInflate(t, append(packed, "behind"...), len(content), what+", more behind")
			sameInflate(t, packed, len(content)+1, what+", too short")
			sameInflate(t, packed, max(len(content)-1, 0), what+", too long")
			for range 5 {
				at := rand.IntN(len(packed))
				sameInflate(t, packed[:at], len(content), what+", cut")
				damaged := bytes.Clone(packed)
				damaged[min(at, rand.IntN(100))] ^= 1 << rand.IntN(8)
				sameInflate(t, damaged, len(content), what+", damaged")
			}
		}
	}
}

// FuzzInflate compares the two decoders: they have to agree on what is sound.
func FuzzInflate(f *testing.F) {
	for _, content := range deflateSamples() {
		for _, level := range []int{flate.HuffmanOnly, flate.BestSpeed, flate.BestCompression} {
			content := content[:min(len(content), 5000)]
			f.Add(deflate(f, level, content), len(content))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, n int) {
		if n < 0 || n > maxWhole {
			return
		}
		sameInflate(t, in, n, "fuzzed")
		out, _ := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(in)), maxWhole)) // seldom n bytes
		sameInflate(t, in, len(out), "of its own length")
	})
}

// TestAtOnce reads the stored bytes of a sound stream once, and charges them only if they are many; one that is not
// sound is read again by the decoder that tells why.
func TestAtOnce(t *testing.T) {
	noise := deflateSamples()["noise"]
	for _, c := range []struct {
		content []byte
		damaged bool
		work    int64
	}{
		{formatstest.Compressible(70_000), false, 0},
		{noise, false, int64(len(deflate(t, flate.BestSpeed, noise)))},
		{noise, true, 1 << 20},
	} {
		packed := deflate(t, flate.BestSpeed, c.content)
		if c.damaged {
			packed = packed[:len(packed)-10]
		}
		accounts := cache.New(4<<20, nil)
		defer accounts.Close()
		p, n := New(nil, accounts, Options{}), int64(len(packed))
		raw := &nodestest.Counted{ReaderAt: formats.BytesReader(packed)}
		key := source.FileKey{Path: "a", Version: source.Version{Stamp: formats.Stamp{Size: n}}}
		s := p.Expand(key, Deflate, raw, int64(len(c.content)))
		b := make([]byte, 128<<10)
		err := accounts.Do(t.Context(), 0, func(ctx context.Context) error {
			got, err := s.ReadAt(ctx, b, 0)
			if err == io.EOF && !c.damaged && !bytes.Equal(b[:got], c.content) {
				t.Errorf("it gives other %d bytes", got)
			}
			return err
		})
		_, peak := accounts.Work()
		if once := raw.Bytes.Load() == n; err != io.EOF || once == c.damaged || peak < c.work || c.work < 1<<20 && peak > c.work {
			t.Errorf("damaged %t: %v; %d bytes read of %d, memory for %d, want %d", c.damaged, err, raw.Bytes.Load(), n, peak, c.work)
		}
		if d, err := s.Damaged(t.Context()); (d != nil) != c.damaged || err != nil {
			t.Errorf("damaged %t: %v, %v", c.damaged, d, err)
		}
	}
}
