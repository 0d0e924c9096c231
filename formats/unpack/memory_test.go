package unpack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats/internal/formatstest"
	"recfs/nodes"
)

// given returns what is given out.
func (w *Memory) given() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.used
}

const deepest = 4

// Who holds memory at one depth waits for some at a lower one, and all end.
func TestMemory(t *testing.T) {
	c := cache.New(16<<20, nil)
	defer c.Close()
	w := NewMemory(c, deepest)
	const most = 20 << 20
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 0))
			for range 50 {
				var held [deepest + 1]int64
				for depth := deepest; depth >= 0; depth-- {
					if rnd.IntN(3) == 0 {
						continue
					}
					held[depth] = 1 + rnd.Int64N(most)
					if err := w.acquire(t.Context(), depth, held[depth]); err != nil {
						t.Error(err)
					}
					if n := w.given(); n > w.limit+(deepest+1)*most {
						t.Errorf("%d bytes given out", n)
					}
				}
				for depth, n := range held {
					if n > 0 {
						w.release(depth, n)
					}
				}
			}
		})
	}
	wg.Wait()
	if n := w.given(); n != 0 {
		t.Errorf("%d bytes not given back", n)
	}
}

func TestMemoryInterrupted(t *testing.T) {
	c := cache.New(0, nil)
	defer c.Close()
	w := NewMemory(c, deepest)
	if err := w.acquire(t.Context(), 0, 1<<30); err != nil { // the only one gets what it needs
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for range 2 { // the second finds the place of the first
		if err := w.acquire(ctx, 0, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want a deadline", err)
		}
	}
	w.release(0, 1<<30)
	if err := w.acquire(t.Context(), 0, 1); err != nil || w.given() != 1 {
		t.Errorf("%v, %d bytes given out", err, w.given())
	}
}

// Each frame of a file may ask for a window of its own.
func TestWindowGrows(t *testing.T) {
	content := formatstest.Compressible(6_000_000)
	var packed []byte
	for i, window := range []int{1 << 20, 32 << 20, 1 << 20, 64 << 20} {
		packed = append(packed, zstdWindow(t, content[i*1_500_000:][:1_500_000], window)...)
	}
	dir := t.TempDir()
	writeFile(t, dir, "a.zst", packed)
	for _, disk := range []string{"", t.TempDir()} {
		p, k := openUnpacker(t, dir, "a.zst", disk)
		c := openContent(t, p, k)
		got, err := io.ReadAll(nodes.Reader(t.Context(), nodes.SectionContent(c, 0, c.Size)))
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if n := p.memory.given(); n != 0 {
			t.Errorf("%d bytes not given back", n)
		}
	}
}

// A decoder that nobody reads makes room for one that is read.
func TestMemoryReclaims(t *testing.T) {
	sent := formatstest.Compressible(4_000_000)
	dir := t.TempDir()
	const files = 8
	for i := range files {
		writeFile(t, dir, fmt.Sprintf("%d.zst", i), zstdWindow(t, sent, 8<<20))
	}
	p, _ := openUnpacker(t, dir, "0.zst", "")
	var all []Content
	for i := range files {
		all = append(all, openContent(t, p, keyOf(t, dir, fmt.Sprintf("%d.zst", i))))
	}
	for range 2 {
		for i, c := range all {
			b := make([]byte, 1000)
			if _, err := c.ReadAt(t.Context(), b, 1_000_000); err != nil || !bytes.Equal(b, sent[1_000_000:][:1000]) {
				t.Errorf("%d: %v", i, err)
			}
			if n := p.memory.given(); n > p.memory.limit {
				t.Errorf("%d bytes given out, %d is the limit", n, p.memory.limit)
			}
		}
	}
}
