package nethack

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/formatstest"
	"recfs/nodes"
)

// A countedLog counts the reads of a log.
type countedLog struct {
	nodes.ReaderAt
	reads atomic.Int64
}

func (c *countedLog) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	c.reads.Add(1)
	return c.ReaderAt.ReadAt(ctx, p, off)
}

// A second look at index.json reads nothing, also not the commands after the last save.
func TestIndexIsMadeOnce(t *testing.T) {
	w := sampleGame(60)
	w.line("move D4", 1000)
	src := formats.BytesInput("x.nhgame", w.Bytes(), time.Unix(1, 0))
	log := &countedLog{ReaderAt: src.ReaderAt}
	src.ReaderAt = log
	c := cache.New(1<<20, nil)
	defer c.Close()
	root, err := formatstest.Open(t.Context(), Format, src, c)
	if err != nil {
		t.Fatal(err)
	}
	first := read(t, root, "index.json")
	log.reads.Store(0)
	e, err := nodes.Lookup(t.Context(), root, "index.json")
	if err != nil {
		t.Fatal(err)
	}
	size, err := e.File.Size(t.Context())
	if err != nil || size != int64(len(first)) || read(t, root, "index.json") != first {
		t.Errorf("%d bytes the second time, %d the first, %v", size, len(first), err)
	}
	if n := log.reads.Load(); n > 0 {
		t.Errorf("read %d times", n)
	}
}
