package deflate

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"recfs/formats/internal/formatstest"
)

// gzipOf returns a gzip member, with a name if there is one.
func gzipOf(t testing.TB, content []byte, name string) []byte {
	t.Helper()
	return formatstest.Packed(t, content, func(w io.Writer) (*gzip.Writer, error) {
		z := gzip.NewWriter(w)
		z.Name = name
		return z, nil
	})
}

// sameGzip holds Gunzip to the decoder of the standard library: what it gives is all that this gives.
func sameGzip(t testing.TB, in []byte, limit int64) bool {
	t.Helper()
	got, ok := Gunzip(bytes.Repeat([]byte{0xaa}, 100), in, limit)
	if !ok {
		return false
	}
	r, err := gzip.NewReader(bytes.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	if want, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) || int64(len(got)) > limit {
		t.Errorf("%d bytes of up to %d, want %d, %v", len(got), limit, len(want), err)
	}
	return true
}

// TestGunzip expands what is sound, one member and nothing else, and leaves the rest.
func TestGunzip(t *testing.T) {
	for name, content := range samples() {
		in, n := gzipOf(t, content, ""), int64(len(content))
		if !sameGzip(t, in, n) || !sameGzip(t, in, n+1) {
			t.Errorf("%s: it is sound", name)
		}
		for at := 0; at < len(in); at += 1 + len(in)/100 {
			damaged := bytes.Clone(in)
			damaged[at] ^= 0x55
			sameGzip(t, damaged, n)
			if sameGzip(t, in[:at], n) {
				t.Errorf("%s: cut at %d", name, at)
			}
		}
		wrongSum, wrongSize := bytes.Clone(in), bytes.Clone(in)
		wrongSum[len(in)-8]++
		wrongSize[len(in)-4]++
		for what, b := range map[string][]byte{
			"named": gzipOf(t, content, "a name"), "two members": append(bytes.Clone(in), in...), "another sum": wrongSum, "another size": wrongSize,
		} {
			if sameGzip(t, b, 2*n+9) {
				t.Errorf("%s: %s", name, what)
			}
		}
		if sameGzip(t, in, n-1) {
			t.Errorf("%s: beyond the limit", name)
		}
	}
}

// FuzzGunzip expands nothing that the standard library does not.
func FuzzGunzip(f *testing.F) {
	for _, content := range samples() {
		f.Add(gzipOf(f, content[:min(len(content), 5000)], ""))
	}
	f.Fuzz(func(t *testing.T, in []byte) { sameGzip(t, in, 256<<10) })
}
