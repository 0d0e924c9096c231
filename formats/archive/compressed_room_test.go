package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"

	"recfs/cache"
	"recfs/nodes"
)

// given returns what is given out.
func (w *workroom) given() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.used
}

// Who holds memory at one depth waits for some at a lower one, and all end.
func TestWorkroom(t *testing.T) {
	c := cache.New(16<<20, nil)
	defer c.Close()
	w := newWorkroom(c)
	const most = 20 << 20
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 0))
			for range 50 {
				var held [maxDepth + 1]int64
				for depth := maxDepth; depth >= 0; depth-- {
					if rnd.IntN(3) == 0 {
						continue
					}
					held[depth] = 1 + rnd.Int64N(most)
					if err := w.acquire(t.Context(), depth, held[depth]); err != nil {
						t.Error(err)
					}
					if n := w.given(); n > w.limit+(maxDepth+1)*most {
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

func TestWorkroomInterrupted(t *testing.T) {
	c := cache.New(0, nil)
	defer c.Close()
	w := newWorkroom(c)
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

// packWindow returns a zstd frame that asks for a window.
func packWindow(t testing.TB, b []byte, window int) []byte {
	var buf bytes.Buffer
	z, err := zstd.NewWriter(&buf, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	for len(b) > 0 && err == nil { // in pieces, so that the frame does not tell its size
		n := min(len(b), 1<<20)
		_, err = z.Write(b[:n])
		b = b[n:]
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// Each frame of a file may ask for a window of its own.
func TestWindowGrows(t *testing.T) {
	content := body(6_000_000)
	var packed []byte
	for i, window := range []int{1 << 20, 32 << 20, 1 << 20, 64 << 20} {
		packed = append(packed, packWindow(t, content[i*1_500_000:][:1_500_000], window)...)
	}
	dir := t.TempDir()
	write(t, dir, "a.rec.zst", string(packed))
	for _, disk := range []string{"", t.TempDir()} {
		root := newArchiveIn(t, dir, disk, 1<<30)
		if got, err := read(t, root, "a.rec.zst/body"); err != nil || got != string(content[3:]) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if n := root.(*top).a.work.given(); n != 0 {
			t.Errorf("%d bytes not given back", n)
		}
	}
}

// A decoder that nobody reads makes room for one that is read.
func TestWorkroomReclaims(t *testing.T) {
	content := body(4_000_000)
	dir := t.TempDir()
	const files = 8
	for i := range files {
		write(t, dir, fmt.Sprintf("%d.stream.zst", i), string(packWindow(t, content, 8<<20)))
	}
	root := newArchiveIn(t, dir, "", 0)
	work := root.(*top).a.work
	for range 2 {
		for i := range files {
			e, err := nodes.Lookup(t.Context(), root, fmt.Sprintf("%d.stream.zst/body", i))
			if err != nil {
				t.Fatal(err)
			}
			r, err := e.File.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			b := make([]byte, 1000)
			if _, err := r.ReadAt(t.Context(), b, 1_000_000); err != nil || !bytes.Equal(b, content[1_000_003:][:1000]) {
				t.Errorf("%d: %v", i, err)
			}
			if n := work.given(); n > work.limit {
				t.Errorf("%d bytes given out, %d is the limit", n, work.limit)
			}
		}
	}
}

// Files in containers in containers, with larger windows than there is room
// for, are read by many at once, and all of them come to an end.
func TestWorkroomNested(t *testing.T) {
	content := body(1_500_000)
	pack := func(b []byte) string { return string(packWindow(t, b, 32<<20)) }
	inner := packTar(t, entry{"a.rec.zst", pack(content)}, entry{"b.rec.zst", pack(content)})
	middle := packTar(t, entry{"c.tar.zst", pack(inner)}, entry{"d.tar.zst", pack(inner)})
	dir := t.TempDir()
	write(t, dir, "e.tar.zst", pack(middle))
	write(t, dir, "f.zip", string(packZip(t, zip.Deflate, entry{"c.tar.zst", pack(inner)}, entry{"d.tar.zst", pack(inner)})))
	root := newArchiveIn(t, dir, t.TempDir(), 1<<30)
	var wg sync.WaitGroup
	for range 4 {
		for _, outer := range []string{"e.tar.zst", "f.zip"} {
			for _, in := range []string{"c.tar.zst/a", "c.tar.zst/b", "d.tar.zst/a", "d.tar.zst/b"} {
				wg.Go(func() {
					name := outer + "/" + in + ".rec.zst/body"
					if got, err := read(t, root, name); err != nil || got != string(content[3:]) {
						t.Errorf("%s: %d bytes, %v", name, len(got), err)
					}
				})
			}
		}
	}
	wg.Wait()
}
