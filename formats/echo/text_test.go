package echo

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// A byte that is not UTF-8 is shown as one U+FFFD, as many as there are, wherever a read begins.
func TestText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, raw := range []string{
		"", "a\xff\xfeb\xc3", strings.Repeat("\xff", 3*blockSize), strings.Repeat("é", blockSize),
		strings.Repeat("é\xe2\x82", 2*blockSize) + "\xf0\x9f\x98\x80",
	} {
		want := string([]rune(raw))
		text := newText([]byte(raw))
		var written bytes.Buffer
		if n := writeValid(&written, []byte(raw)); written.String() != want || n != int64(len(want)) || text.Size() != n || ValidString([]byte(raw)) != want {
			t.Errorf("%.10q: %d bytes are written, %d of %d, want %d", raw, written.Len(), n, text.Size(), len(want))
		}
		for range 50 {
			off := random.IntN(len(want) + 1)
			p := make([]byte, random.IntN(2*blockSize))
			n, err := text.ReadAt(t.Context(), p, int64(off))
			if rest := want[off:min(off+len(p), len(want))]; string(p[:n]) != rest || (err == io.EOF) != (n < len(p)) {
				t.Fatalf("%.10q: %d bytes at %d, want %d, %v", raw, n, off, len(rest), err)
			}
		}
	}
}
