package teehistorian

import (
	"testing"

	"recfs/formats/internal/formatstest"
)

// An index on disk with any content, and the right checksum, does no harm.
func TestForgedIndex(t *testing.T) {
	formatstest.Forged(t, Format,
		"../../testdata/teehistorian/basic.txtar",
		"../../testdata/teehistorian/limits.txtar",
		"../../testdata/archive/teehistorian/reload-20.1.teehistorian")
}
