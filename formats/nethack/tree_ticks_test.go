package nethack

import (
	"testing"

	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
)

// TestSizesOfABlock holds the sizes that a pass learns to the documents, in a log with two chains,
// saves that are lost in between, and a text between two saves that is too long for its tick.
func TestSizesOfABlock(t *testing.T) {
	w := newGame("Sizes")
	w.comp = plain
	chain := func(n int) {
		w.backup(testSave(1000), 1)
		for i := range n {
			w.line("move D3", 1000)
			w.diff(beta3, int32(i+2), w.rest(24))
		}
	}
	chain(290)
	w.line("~"+encodeBlob([]byte{1, 0x43}, plain), -1)
	for range 70 {
		w.diff(beta3, 200, w.rest(24))
	}
	chain(20)
	w.line("chat"+string(make([]byte, maxEventText)), -1)
	chain(20)
	for _, states := range []bool{false, true} {
		rec, _, err := openRecording(t.Context(), formatstest.BytesInput("game.nhgame", w.Bytes(), testTime), newCache(t, 16<<20))
		if err != nil {
			t.Fatal(err)
		}
		l, err := rec.listings.Get(t.Context(), struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		dir, failed := l.dirs[ticksDir], 0
		if states {
			dir = l.dirs[statesDir]
		}
		files := make([]nodes.File, l.ticks)
		sizes := make([]int64, l.ticks)
		for n := range files {
			e, err := dir.At(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			files[n] = e.File
			if sizes[n], err = e.File.Size(nodes.Listing(t.Context())); err != nil {
				sizes[n] = -1
				failed++
			}
		}
		if _, ok := rec.saves.Peek(70); ok {
			t.Errorf("states %v: the saves of a block are kept", states)
		}
		if want := map[bool]int{false: 1, true: 71}[states]; failed != want {
			t.Errorf("states %v: %d sizes are not known, want %d", states, failed, want)
		}
		for n, f := range files {
			if b, err := nodes.ReadAll(t.Context(), f); (err != nil) != (sizes[n] < 0) || err == nil && int64(len(b)) != sizes[n] {
				t.Errorf("states %v: tick %d has %d bytes, %v; its size is %d", states, n, len(b), err, sizes[n])
			}
		}
	}
}

// A save that is not as long as the index says is of another log, and none to build on.
func TestSavesOfAnotherLog(t *testing.T) {
	w := newGame("Other")
	w.comp = plain
	w.backup(testSave(1000), 1)
	w.diff(beta3, 2, w.rest(24))
	rec, _, err := openRecording(t.Context(), formatstest.BytesInput("game.nhgame", w.Bytes(), testTime), newCache(t, 16<<20))
	if err != nil {
		t.Fatal(err)
	}
	x, err := rec.Index(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ticks := x.ticks.all()
	ticks[1].size++
	x.ticks = tickListOf(ticks...)
	seen := 0
	err = rec.eachSave(t.Context(), x, new(rebuilder), 0, 1, func(int, []byte) error { seen++; return nil })
	if _, ok := rec.saves.Peek(1); ok || err == nil || seen != 1 {
		t.Errorf("%d saves, %v; the last one is kept: %v", seen, err, ok)
	}
}
