package pieces

import (
	"bytes"
	"io/fs"
	"os"
	"testing"
)

// TestPieces finds what the formats compress, and puts other content in its place.
func TestPieces(t *testing.T) {
	samples := os.DirFS("../../../testdata/archive")
	for _, path := range []string{
		"butter/arena_v1_gzip.butter", "butter/arena_private_bones_v3_zstd7.butter", "datafile/maps/new.map",
		"hcrp/run-short.hcrp", "nethack/small.nhgame",
	} {
		b, err := fs.ReadFile(samples, path)
		if err != nil {
			t.Fatal(err)
		}
		found := Find(b)
		if len(found) == 0 {
			t.Errorf("%s: no pieces", path)
		}
		for i, p := range found {
			content := append(bytes.Clone(p.Content), "and more"...)
			again := Find(Replace(b, found, i, content))
			if len(again) != len(found) || !bytes.Equal(again[i].Content, content) {
				t.Errorf("%s: %d pieces, then %d; piece %d is not what was put there", path, len(found), len(again), i)
			}
		}
	}
}
