package teehistorian

import (
	"path/filepath"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// newCache returns a cache for one test.
func newCache(t testing.TB) *cache.Cache {
	c := cache.New(16<<20, nil)
	t.Cleanup(c.Close)
	return c
}

// openBytes opens a recording in memory.
func openBytes(t testing.TB, c *cache.Cache, recording []byte) (nodes.Dir, error) {
	src := formatstest.BytesInput("x.teehistorian", recording, time.Unix(1_800_000_000, 0))
	return formatstest.Open(t.Context(), Format, src, c)
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("../../testdata/teehistorian/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no goldens", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			nodestest.Golden(t, file, func(recording []byte) (nodes.Dir, error) { return openBytes(t, newCache(t), recording) }, parquettest.Show)
		})
	}
}

func TestSaved(t *testing.T) {
	nodestest.Saved(t, "../../testdata/teehistorian/saved.sums", indexfile.Layout, func(recording []byte) []byte {
		h, x := indexed(t, recording)
		return x.Append(h.Append(nil))
	}, "../../testdata/teehistorian/*.txtar", "../../testdata/archive/teehistorian/*.teehistorian")
}
