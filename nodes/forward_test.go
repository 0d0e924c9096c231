package nodes_test

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// What is inflated as it is read is the same wherever a read begins, and a failed read leaves it
// usable.
func TestForward(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	want := make([]byte, 1<<20)
	for i := range want {
		want[i] = byte(rnd.IntN(5))
	}
	var packed bytes.Buffer
	packed.WriteString("before")
	w, _ := flate.NewWriter(&packed, 1)
	_, _ = w.Write(want)
	_ = w.Close()
	const before = 6
	src := nodes.NewCursor(nodes.BytesContent(packed.Bytes()), before, int64(packed.Len()-before))
	inflate := func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil }
	f := nodes.NewForward(src, inflate, int64(len(want)), 1000)
	if f.Held() < 1000 {
		t.Error("it holds nothing")
	}
	p := make([]byte, 50000)
	for range nodestest.Times(200, 40) {
		off, n := rnd.Int64N(f.Size()+10), 1+rnd.IntN(len(p))
		if rnd.IntN(5) == 0 {
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := f.ReadAt(ended, p[:n], 0); err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		got, err := f.ReadAt(t.Context(), p[:n], off)
		due := want[min(off, f.Size()):min(off+int64(n), f.Size())]
		if !bytes.Equal(p[:got], due) || (err == nil) != (got == n) || err != nil && err != io.EOF {
			t.Fatalf("%d bytes at %d: %d, %v", n, off, got, err)
		}
	}
	src.Reset(before)
	short := nodes.NewForward(src, inflate, f.Size()+1, 0)
	if _, err := short.ReadAt(t.Context(), p, f.Size()-10); err != io.ErrUnexpectedEOF {
		t.Errorf("a text that ends early: %v", err)
	}
}
