package butter

import (
	"testing"

	"recfs/formats/internal/formatstest"
)

// An index on disk with any content, and the right checksum, does no harm.
func TestForgedIndex(t *testing.T) {
	formatstest.Forged(t, New(Options{}),
		"../../testdata/butter/arena.txtar",
		"../../testdata/butter/damaged.txtar")
}
