// Package formatstest has what the tests of several rooms of formats share.
package formatstest

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// forgedRuns is how many changes of each saved index are tried.
const forgedRuns = 150

// Forged holds a format to its saved index being only a claim, for each of the samples (files that
// [nodestest.Sample] reads): see [nodestest.Forged].
func Forged(t *testing.T, format formats.Format, samples ...string) {
	t.Helper()
	for _, sample := range samples {
		b := nodestest.Sample(t, sample)
		nodestest.Forged(t, forgedRuns, func(t testing.TB, shelf *nodestest.Shelf) nodes.Dir {
			c := cache.New(64<<20, shelf)
			t.Cleanup(c.Close)
			in := formats.BytesInput("sample", b, time.Unix(1e9, 0))
			in.ID = "sample"
			dir, err := format.Open(t.Context(), in, c)
			if err != nil {
				t.Fatal(err)
			}
			return dir
		})
	}
}

// Gzip returns b as a gzip file.
func Gzip(t testing.TB, b []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	if err == nil {
		_, err = w.Write(b)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// Compressible returns n bytes that begin with REC and compress to about a half.
func Compressible(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[r.IntN(16)]
	}
	copy(b, "REC")
	return b
}
