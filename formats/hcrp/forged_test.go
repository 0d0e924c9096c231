package hcrp

import (
	"errors"
	"math/rand/v2"
	"testing"

	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A head and an index on disk with any content, and the right checksum, do no harm.
func TestForgedIndex(t *testing.T) {
	nodestest.Long(t)
	g := &generator{rand.New(rand.NewPCG(1, 9)), hosts(t)[0].schema}
	b := g.recording(Published, 4, 40, 40).file(t)
	small := g.recording(Published, 4, 4, 20)
	for name, in := range map[string]formats.Input{
		"file": fileInput(b, len(b)), "small": fileInput(small.file(t), len(small.file(t))), "segments": dirInput(small.segments(t, 2)),
	} {
		t.Run(name, func(t *testing.T) {
			nodestest.Forged(t, nodestest.Times(20, 8), func(t testing.TB, shelf *nodestest.Shelf) nodes.Dir {
				return openKept(t, New(Options{}), in, shelf)
			})
		})
	}
}

// A saved replay that does not decode makes no pass go on, and no state.
func TestForgedReplay(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 11)), hosts(t)[0].schema}
	file := g.recording(Published, 4, 40, 40).file(t)
	h, x := indexOf(t, fileInput(file, len(file)-1), g.schema)
	for i := range x.checkpoints {
		x.checkpoints[i].Replay = []byte{1, 1}
	}
	in := fileInput(file, len(file))
	saved, err := readIndex(in, h, x.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	p := playback{layout: Published, index: saved.(*index), decode: h.reader(in).decode}
	if _, err := p.before(t.Context(), len(x.ranges)-1); !errors.Is(err, formats.ErrOther) {
		t.Errorf("a state: %v", err)
	}
	if _, err := scan(t.Context(), in, h, saved); !errors.Is(err, formats.ErrOther) {
		t.Errorf("a pass that goes on: %v", err)
	}
}

// TestPrefixes makes indexes in stretches of the file, where chunks are damaged, missing, and in
// another order than their ticks.
func TestPrefixes(t *testing.T) {
	for i, host := range hosts(t) {
		g := &generator{rand.New(rand.NewPCG(uint64(i), 10)), host.schema}
		whole := g.recording(host.layout, host.version, 60, 30)
		samples := [][]byte{whole.file(t)}
		samples = append(samples, samples[0][:len(samples[0])*9/10])
		damaged := &whole.chunks[20]
		damaged.body = damaged.body[:len(damaged.body)/2]
		samples = append(samples, whole.file(t))
		damaged.body = nil
		samples = append(samples, whole.file(t))
		g.Shuffle(len(whole.chunks), func(i, j int) { whole.chunks[i], whole.chunks[j] = whole.chunks[j], whole.chunks[i] })
		samples = append(samples, whole.file(t))
		formatstest.Prefixes(t, New(Options{Schemas: []*Schema{host.schema}}), samples[:nodestest.Times(len(samples), 2)]...)
	}
}
