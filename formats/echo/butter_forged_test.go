package echo

import (
	"testing"

	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes/nodestest"
)

// An index on disk with any content, and the right checksum, does no harm.
func TestForgedButter(t *testing.T) {
	formatstest.Forged(t, NewButter(Options{}),
		"../../testdata/butter/arena.txtar",
		"../../testdata/butter/damaged.txtar")
}

// An index that is made in stretches is that of one pass.
func TestButterPrefixes(t *testing.T) {
	nodestest.Long(t)
	bones, _ := sample(layoutV3, 2, 4, 130, true, func(w *writer) { w.interval, w.compression = 10, gzipped })
	long, _ := sample(layoutV3, 2, 8, 400, true, func(w *writer) { w.interval, w.compression = 300, gzipped }) // longer than smallChunk
	damaged := nodestest.Sample(t, "../../testdata/butter/damaged.txtar")
	formatstest.Prefixes(t, NewButter(Options{}), bones, bones[:len(bones)-1000], append(bones, 7), long, damaged)
}

// A saved chunk that has no part, or more frames than fit between key frames, is not used.
func TestForgedButterParts(t *testing.T) {
	b, _ := sample(layoutV3, 2, 2, 20, false, func(w *writer) { w.interval = 10 })
	r := openBytes(t, b)
	x, err := r.Scan(t.Context(), r.size, nil)
	if err != nil {
		t.Fatal(err)
	}
	read := func() error {
		_, err := readButterIndex(formats.Input{}, r.butterHead, x.Append(nil))
		return err
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	c := &x.Chunks[0]
	parts := c.Parts
	if c.Parts = nil; read() == nil {
		t.Error("a chunk without a part")
	}
	c.Parts = parts
	r.Header.Interval = 9
	if read() == nil {
		t.Error("a chunk of 10 frames where 9 have room")
	}
}
