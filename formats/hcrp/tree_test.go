package hcrp

import (
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

var testTime = time.Date(2026, 8, 9, 18, 26, 40, 0, time.UTC)

// openBytes opens a recording that is one file.
func openBytes(t testing.TB, b []byte, opt Options) (nodes.Dir, error) {
	t.Helper()
	c := cache.New(64<<20, nil)
	t.Cleanup(c.Close)
	return New(opt).Open(t.Context(), formats.BytesSource("test.hcrp", b, testTime), c)
}

func TestGolden(t *testing.T) {
	nodestest.Golden(t, "../../testdata/hcrp/tiny.txtar", func(b []byte) (nodes.Dir, error) {
		return openBytes(t, b, Options{})
	})
}
