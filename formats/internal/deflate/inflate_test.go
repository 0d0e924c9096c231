package deflate

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
	"time"

	kflate "github.com/klauspost/compress/flate"

	"recfs/formats/internal/formatstest"
)

// samples are what blocks of every kind come from: literals alone, short and long ways back, runs.
func samples() map[string][]byte {
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

func packed(t testing.TB, level int, b []byte) []byte {
	t.Helper()
	return formatstest.Packed(t, b, func(w io.Writer) (*flate.Writer, error) { return flate.NewWriter(w, level) })
}

// sameWhole tells Whole by the decoder of the standard library: what that gives, if it has n bytes and then ends.
func sameWhole(t testing.TB, in []byte, n int, what string) {
	t.Helper()
	want, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(in)), int64(n)+1))
	got := bytes.Repeat([]byte{0xaa}, n)
	if ok := Whole(got, in); ok != (err == nil && len(want) == n) || ok && !bytes.Equal(got, want) {
		t.Errorf("%s: %t for %d bytes, want %d, %v", what, ok, n, len(want), err)
	}
}

// sameStream holds a Reader to klauspost, in bytes and in what follows them. It begins again only with what the standard library
// does not take for sound: klauspost goes on with a code that has no symbols.
func sameStream(t testing.TB, in []byte, what string) {
	t.Helper()
	want, failed := io.ReadAll(kflate.NewReader(bytes.NewReader(in)))
	_, odd := io.Copy(io.Discard, flate.NewReader(bytes.NewReader(in)))
	for _, of := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.DataErrReader} {
		opened := 0
		r := NewReader(func() io.Reader {
			opened++
			return of(bytes.NewReader(in))
		})
		got, err := io.ReadAll(iotest.HalfReader(r))
		if !bytes.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(failed) {
			t.Fatalf("%s: %d bytes, %v, want %d, %v", what, len(got), err, len(want), failed)
		}
		if n, again := r.Read(make([]byte, 1)); n != 0 || again == nil || err != nil && again.Error() != err.Error() {
			t.Errorf("%s: then %d bytes, %v", what, n, again)
		}
		if opened > 1 && odd == nil {
			t.Errorf("%s: it is sound, and is read %d times", what, opened)
		}
	}
}

// A stream that is longer than what a Reader holds, with blocks of every kind.
func TestLong(t *testing.T) {
	var all []byte
	for _, content := range samples() {
		all = append(all, content...)
	}
	for _, level := range []int{flate.HuffmanOnly, flate.NoCompression, flate.BestCompression} {
		in := packed(t, level, all)
		sameStream(t, in, fmt.Sprintf("level %d", level))
		sameStream(t, in[:len(in)*9/10], fmt.Sprintf("level %d, cut", level))
	}
}

// What cannot be read gives what klauspost gives: all bytes before, and the error.
func TestUnreadable(t *testing.T) {
	content := samples()["text"]
	in, broken := packed(t, flate.BestSpeed, content), errors.New("broken")
	for at := 0; at <= len(in); at += 1 + len(in)/50 {
		open := func() io.Reader { return io.MultiReader(bytes.NewReader(in[:at]), iotest.ErrReader(broken)) }
		want, failed := io.ReadAll(kflate.NewReader(open()))
		got, err := io.ReadAll(NewReader(open))
		if !bytes.Equal(got, want) || err != failed {
			t.Errorf("after %d bytes: %d bytes, %v, want %d, %v", at, len(got), err, len(want), failed)
		}
	}
}

// TestWhole decompresses what is sound, and nothing that is cut, damaged, longer or shorter.
func TestWhole(t *testing.T) {
	for name, content := range samples() {
		for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
			what := fmt.Sprintf("%s, level %d", name, level)
			packed := packed(t, level, content)
			got := make([]byte, len(content))
			if !Whole(got, packed) || !bytes.Equal(got, content) {
				t.Fatalf("%s: it is not what it was", what)
			}
			sameWhole(t, append(packed, "behind"...), len(content), what+", more behind")
			sameStream(t, packed, what)
			sameWhole(t, packed, len(content)+1, what+", too short")
			sameWhole(t, packed, max(len(content)-1, 0), what+", too long")
			for range 5 {
				at := rand.IntN(len(packed))
				sameWhole(t, packed[:at], len(content), what+", cut")
				damaged := bytes.Clone(packed)
				damaged[min(at, rand.IntN(100))] ^= 1 << rand.IntN(8)
				sameWhole(t, damaged, len(content), what+", damaged")
				sameStream(t, packed[:at], what+", cut")
				sameStream(t, damaged, what+", damaged")
			}
		}
	}
}

// FuzzWhole compares the two decoders: they have to agree on what is sound.
func FuzzWhole(f *testing.F) {
	for _, content := range samples() {
		for _, level := range []int{flate.HuffmanOnly, flate.BestSpeed, flate.BestCompression} {
			content := content[:min(len(content), 5000)]
			f.Add(packed(f, level, content), len(content))
		}
	}
	const most = 256 << 10
	f.Fuzz(func(t *testing.T, in []byte, n int) {
		if n < 0 || n > most {
			return
		}
		sameWhole(t, in, n, "fuzzed")
		sameStream(t, in, "fuzzed")
		out, _ := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(in)), most)) // seldom n bytes
		sameWhole(t, in, len(out), "of its own length")
	})
}

// BenchmarkReader compares the time of a stream with that of klauspost.
func BenchmarkReader(b *testing.B) {
	content := bytes.Repeat(samples()["text"], 50)
	in := packed(b, flate.DefaultCompression, content)
	var own, other time.Duration
	of := func(r io.Reader) time.Duration {
		start := time.Now()
		if n, err := io.Copy(io.Discard, struct{ io.Reader }{r}); err != nil || n != int64(len(content)) {
			b.Fatal(n, err)
		}
		return time.Since(start)
	}
	for b.Loop() {
		own += of(NewReader(func() io.Reader { return bytes.NewReader(in) }))
		other += of(kflate.NewReader(bytes.NewReader(in)))
	}
	b.SetBytes(2 * int64(len(content)))
	b.ReportMetric(float64(other)/float64(own), "klauspost/own")
}
