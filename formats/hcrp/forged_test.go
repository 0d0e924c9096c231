package hcrp

import (
	"math/rand/v2"
	"testing"

	"recfs/formats"
	"recfs/formats/internal/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// An index on disk with any content, and the right checksum, does no harm.
func TestForgedIndex(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 9)), hosts(t)[0].schema}
	b := g.recording(Published, 4, 100, 100).file(t)
	nodestest.Forged(t, 40, func(t testing.TB, shelf *nodestest.Shelf) nodes.Dir {
		size := int64(len(b))
		src := formats.Input{ReaderAt: formats.BytesReader(b), Name: "a.hcrp", Size: size, Stored: size, ModTime: testTime, ID: "a"}
		dir, err := formatstest.Open(t.Context(), New(Options{}), src, testCache(t, shelf))
		if err != nil {
			t.Fatal(err)
		}
		return dir
	})
}
