package teehistorian

import (
	"testing"

	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes/nodestest"
)

// An index on disk with any content, and the right checksum, does no harm.
func TestForgedIndex(t *testing.T) {
	formatstest.Forged(t, Format,
		"../../testdata/teehistorian/basic.txtar",
		"../../testdata/teehistorian/limits.txtar",
		"../../testdata/archive/teehistorian/reload-20.1.teehistorian")
}

// An index made in stretches is that of one pass.
func TestPrefixes(t *testing.T) {
	busy := readBusy(t)
	formatstest.Prefixes(t, Format, busy, busy[:len(busy)-1000], nodestest.Sample(t, "../../testdata/teehistorian/basic.txtar"))
}
