package nethack

import (
	"testing"

	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes/nodestest"
)

// An index on disk with any content, and the right checksum, does no harm.
func TestForgedIndex(t *testing.T) {
	nodestest.Long(t)
	formatstest.Forged(t, Format,
		"../../testdata/nethack/basic.txtar",
		"../../testdata/nethack/damaged.txtar",
		"../../testdata/archive/nethack/small.nhgame")
}

// An index made in stretches is that of one pass.
func TestPrefixes(t *testing.T) {
	var logs [][]byte
	for _, name := range []string{"archive/nethack/beta1.nhgame", "archive/nethack/fork-fiqhack.nhgame", "archive/nethack/crash.nhgame", "nethack/damaged.txtar"} {
		logs = append(logs, nodestest.Sample(t, "../../testdata/"+name))
	}
	formatstest.Prefixes(t, Format, logs...)
}
