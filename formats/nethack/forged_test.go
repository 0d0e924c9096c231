package nethack

import (
	"testing"

	"recfs/formats/internal/formatstest"
)

// An index on disk with any content, and the right checksum, does no harm.
func TestForgedIndex(t *testing.T) {
	formatstest.Forged(t, Format,
		"../../testdata/nethack/basic.txtar",
		"../../testdata/nethack/damaged.txtar",
		"../../testdata/archive/nethack/small.nhgame")
}
