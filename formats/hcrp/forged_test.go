package hcrp

import (
	"math/rand/v2"
	"testing"

	"recfs/formats"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A head and an index on disk with any content, and the right checksum, do no harm.
func TestForgedIndex(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 9)), hosts(t)[0].schema}
	b := g.recording(Published, 4, 100, 100).file(t)
	small := g.recording(Published, 4, 4, 20)
	for name, in := range map[string]formats.Input{
		"file": fileInput(b, len(b)), "small": fileInput(small.file(t), len(small.file(t))), "segments": dirInput(small.segments(t, 2)),
	} {
		t.Run(name, func(t *testing.T) {
			nodestest.Forged(t, 40, func(t testing.TB, shelf *nodestest.Shelf) nodes.Dir {
				return openKept(t, keeping(Options{}), in, shelf)
			})
		})
	}
}
