package hcrp

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"
)

// Of a preamble only what its header tells of is read into memory, however much is behind it.
func TestLongPreamble(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(1, 10)), hosts(t)[0].schema}
	fsys := g.recording(Published, 4, 4, 20).segments(t, 2)
	want, err := Options{}.newReader(t.Context(), dirInput(fsys))
	if err != nil {
		t.Fatal(err)
	}
	const more = 64 << 20
	fsys[preambleName].Data = append(bytes.Clone(fsys[preambleName].Data), make([]byte, more)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := Options{}.newReader(t.Context(), dirInput(fsys))
	runtime.ReadMemStats(&after)
	if err != nil || !bytes.Equal(got.metadata, want.metadata) {
		t.Errorf("%v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > more/4 {
		t.Errorf("%d bytes were allocated", n)
	}
	fsys[preambleName].Data = make([]byte, more)
	if _, err := (Options{}).newReader(t.Context(), dirInput(fsys)); err == nil {
		t.Error("a preamble of zeroes opened")
	}
}
