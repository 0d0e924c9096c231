package butter

import (
	"testing"

	"recfs/formats/internal/formatstest"
	"recfs/nodes/nodestest"
)

// An index on disk with any content, and the right checksum, does no harm.
func TestForgedIndex(t *testing.T) {
	formatstest.Forged(t, New(Options{}),
		"../../testdata/butter/arena.txtar",
		"../../testdata/butter/damaged.txtar")
}

// An index that is made in stretches is that of one pass.
func TestPrefixes(t *testing.T) {
	bones, _ := sample(layoutV3, 2, 4, 130, true, func(w *writer) { w.interval, w.compression = 10, gzipped })
	damaged := nodestest.Sample(t, "../../testdata/butter/damaged.txtar")
	formatstest.Prefixes(t, New(Options{}), bones, bones[:len(bones)-1000], append(bones, 7), damaged)
}
