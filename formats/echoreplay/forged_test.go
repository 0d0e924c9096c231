package echoreplay

import (
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// An index on disk with any content, and the right checksum, does no harm.
func TestForgedIndex(t *testing.T) {
	for _, sample := range []string{"../../testdata/archive/butter/first-24-frames.echoreplay"} {
		b := nodestest.Sample(t, sample)
		nodestest.Forged(t, 150, func(t testing.TB, shelf *nodestest.Shelf) nodes.Dir {
			c := cache.New(64<<20, shelf)
			t.Cleanup(c.Close)
			size := int64(len(b))
			dir, err := Format.Open(t.Context(), formats.Input{
				ReaderAt: formats.BytesReader(b), Name: "sample", Size: size, Stored: size, ModTime: time.Unix(1e9, 0), ID: "sample",
			}, c)
			if err != nil {
				t.Fatal(err)
			}
			return dir
		})
	}
}
