package wire

import (
	"bytes"
	"hash/adler32"
	"math/rand/v2"
	"testing"
)

// TestAdler32 compares with the standard library, on noise, on the bytes that make the greatest
// sums, and on pixels of one colour, which are summed in another way, with others between them.
func TestAdler32(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	colour := bytes.Repeat([]byte{1, 20, 250, 255}, 1<<18)
	for at := 0; at < len(colour); at += random.IntN(4000) {
		colour[at]++
	}
	for _, all := range [][]byte{noise, colour, bytes.Repeat([]byte{255}, 1<<20), make([]byte, 1<<16)} {
		sum, at, want := uint32(1), 0, adler32.New()
		for at < len(all) {
			n := min(random.IntN(5000), len(all)-at)
			if random.IntN(2) == 0 {
				n = min(n, 20)
			}
			sum = Adler32(sum, all[at:at+n])
			want.Write(all[at : at+n])
			at += n
			if want := want.Sum32(); sum != want {
				t.Fatalf("%d bytes: %08x, want %08x", at, sum, want)
			}
		}
		if got, want := Adler32(1, all), adler32.Checksum(all); got != want {
			t.Errorf("%d bytes at once: %08x, want %08x", len(all), got, want)
		}
	}
}
