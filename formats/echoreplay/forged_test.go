package echoreplay

import (
	"testing"

	"recfs/formats/internal/formatstest"
)

// An index on disk with any content, and the right checksum, does no harm.
func TestForgedIndex(t *testing.T) {
	formatstest.Forged(t, Format,
		"../../testdata/archive/butter/first-24-frames.echoreplay")
}
