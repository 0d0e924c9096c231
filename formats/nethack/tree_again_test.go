package nethack

import (
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A second look at index.json reads nothing, also not the commands after the last save.
func TestIndexIsMadeOnce(t *testing.T) {
	w := sampleGame(60)
	w.line("move D4", 1000)
	src := formatstest.BytesInput("x.nhgame", w.Bytes(), time.Unix(1, 0))
	log := &nodestest.Counted{ReaderAt: src.ReaderAt}
	src.ReaderAt = log
	c := cache.New(1<<20, nil)
	defer c.Close()
	root, err := formatstest.Open(t.Context(), Format, src, c)
	if err != nil {
		t.Fatal(err)
	}
	first := nodestest.Read(t, root, "index.json")
	log.Reads.Store(0)
	e, err := nodes.Lookup(t.Context(), root, "index.json")
	if err != nil {
		t.Fatal(err)
	}
	size, err := e.File.Size(t.Context())
	if err != nil || size != int64(len(first)) || nodestest.Read(t, root, "index.json") != first {
		t.Errorf("%d bytes the second time, %d the first, %v", size, len(first), err)
	}
	if n := log.Reads.Load(); n > 0 {
		t.Errorf("read %d times", n)
	}
}
