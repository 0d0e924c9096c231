package unpack_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/unpack"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// TestStreamBackwards reads a file in any order, with and without a copy, also after everything was
// closed.
func TestStreamBackwards(t *testing.T) {
	content := formatstest.Compressible(3_000_000)
	for _, disk := range []string{t.TempDir(), ""} {
		dir := t.TempDir()
		writeFile(t, dir, "a.gz", formatstest.Gzip(t, content))
		p, k := openUnpacker(t, dir, "a.gz", disk)
		u := p.Expand(k, contentOf(t, dir, disk, k), unpack.Gzip, rawOf(t, dir, k), 1<<30)
		for range 10 {
			off := rand.IntN(len(content))
			b := make([]byte, 100_000)
			n, err := u.ReadAt(t.Context(), b, int64(off))
			if want := content[off:min(off+len(b), len(content))]; !bytes.Equal(b[:n], want) || err != nil && err != io.EOF {
				t.Fatalf("at %d: %d bytes, %v", off, n, err)
			}
		}
		if d, err := u.Damaged(t.Context()); d != nil || err != nil {
			t.Errorf("damage %v, %v", d, err)
		}
		if n, err := u.ReadAt(t.Context(), make([]byte, 5), int64(len(content))); n != 0 || err != io.EOF {
			t.Errorf("behind the end: %d, %v", n, err)
		}
		p.CloseStreams()
		if n, err := u.ReadAt(t.Context(), make([]byte, 5), 2_500_000); n != 5 || err != nil {
			t.Errorf("after a while: %d, %v", n, err)
		}
	}
}

// TestStreamReadAhead reads a file without a copy in an order in which the kernel may ask for it:
// nothing is decompressed twice.
func TestStreamReadAhead(t *testing.T) {
	const step = 128 << 10
	content := formatstest.Compressible(40 * step)
	packed := formatstest.Gzip(t, content)
	dir := t.TempDir()
	writeFile(t, dir, "a.gz", packed)
	p, k := openUnpacker(t, dir, "a.gz", "")
	raw := &nodestest.Counted{ReaderAt: rawOf(t, dir, k)}
	u := p.Expand(k, nil, unpack.Gzip, raw, int64(len(content)))
	got := make([]byte, len(content))
	for i := range 40 {
		i ^= 3
		if _, err := u.ReadAt(t.Context(), got[i*step:][:step], int64(i*step)); err != nil && err != io.EOF {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got, content) {
		t.Error("it gives other bytes")
	}
	if n := raw.Bytes.Load(); n > int64(len(packed))+1<<20 {
		t.Errorf("%d bytes read of %d", n, len(packed))
	}
}

// TestStreamsShareFrames opens a file again: what was decompressed for the first reader is of use
// to the next one, as frames belong to a version and not to who asked for them.
func TestStreamsShareFrames(t *testing.T) {
	content := formatstest.Compressible(3_000_000)
	dir := t.TempDir()
	writeFile(t, dir, "a.gz", formatstest.Gzip(t, content))
	p, k := openUnpacker(t, dir, "a.gz", "")
	raw := &nodestest.Counted{ReaderAt: rawOf(t, dir, k)}
	for i := range 3 {
		b := make([]byte, 1000)
		if _, err := p.Expand(k, nil, unpack.Gzip, raw, 1<<30).ReadAt(t.Context(), b, 2_000_000); err != nil || !bytes.Equal(b, content[2_000_000:][:1000]) {
			t.Fatal(err)
		}
		p.CloseStreams()
		if i > 0 {
			continue
		}
		raw.Reads.Store(0)
	}
	if n := raw.Reads.Load(); n > 0 {
		t.Errorf("%d reads of the file for bytes that were there", n)
	}
}

// TestListedOnce reads a container to its end in one pass, which makes the copy as it goes: who
// reads here and there after that, or opens it again, reads no byte of the file.
func TestListedOnce(t *testing.T) {
	content := formatstest.Compressible(3_000_000)
	dir := t.TempDir()
	writeFile(t, dir, "a.gz", formatstest.Gzip(t, content))
	disk := t.TempDir()
	p, k := openUnpacker(t, dir, "a.gz", disk)
	raw := &nodestest.Counted{ReaderAt: rawOf(t, dir, k)}
	how := unpack.Choice{Listed: true, Streams: true, Content: contentOf(t, dir, disk, k)}
	c, err := p.Open(t.Context(), k, raw, how)
	if err != nil || c.Size != formats.UnknownSize || raw.Bytes.Load() > 100<<10 {
		t.Fatalf("%d bytes, %d read, %v", c.Size, raw.Bytes.Load(), err)
	}
	got, err := io.ReadAll(io.NewSectionReader(nodes.At(t.Context(), c), 0, 1<<40))
	if err != nil || !bytes.Equal(got, content) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	raw.Bytes.Store(0)
	size, err := c.Measure(t.Context())
	if n, readErr := c.ReadAt(t.Context(), make([]byte, 100), 1_000_000); size != int64(len(content)) || err != nil || n != 100 || readErr != nil {
		t.Errorf("size %d, %v; %d bytes, %v", size, err, n, readErr)
	}
	c, err = p.Open(t.Context(), k, raw, how)
	if c.Size != size || err != nil || raw.Bytes.Load() > 100<<10 {
		t.Errorf("opened again: %d bytes, %d read, %v", c.Size, raw.Bytes.Load(), err)
	}
}

// TestStreamWhole keeps nothing of a short stream that is read whole, but whether it is damaged.
func TestStreamWhole(t *testing.T) {
	content := formatstest.Compressible(30_000)
	for _, cut := range []int{0, 1} {
		packed := formatstest.Gzip(t, content)
		packed[len(packed)-5] ^= byte(cut) // of the length behind the checksum
		dir := t.TempDir()
		writeFile(t, dir, "a.gz", packed)
		p, k := openUnpacker(t, dir, "a.gz", "")
		raw := &nodestest.Counted{ReaderAt: rawOf(t, dir, k)}
		u := p.Expand(k, nil, unpack.Gzip, raw, int64(len(content)))
		b := make([]byte, 64<<10)
		for i := range int64(2) {
			n, err := u.ReadAt(t.Context(), b, 0)
			if !bytes.Equal(b[:n], content) || err != io.EOF {
				t.Errorf("%d bytes, %v", n, err)
			}
			d, err := u.Damaged(t.Context())
			if (d != nil) != (cut != 0) || err != nil {
				t.Errorf("damage %v, %v", d, err)
			}
			if got, want := raw.Bytes.Load(), (i+1)*int64(len(packed)); got != want {
				t.Errorf("read %d times: %d bytes, want %d", i+1, got, want)
			}
		}
	}
}

// TestStreamWaits lets go of a reader whose context ends while another one is in the stream.
func TestStreamWaits(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "a.gz", formatstest.Gzip(t, formatstest.Compressible(3_000_000)))
	p, k := openUnpacker(t, dir, "a.gz", "")
	raw := &stuckReader{ReaderAt: rawOf(t, dir, k), stuck: make(chan struct{})}
	u := p.Expand(k, nil, unpack.Gzip, raw, 1<<30)
	first := make(chan error)
	go func() {
		_, err := u.ReadAt(t.Context(), make([]byte, 10), 1_000_000)
		first <- err
	}()
	raw.wait(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := u.Damaged(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the end of the context", err)
	}
	close(raw.stuck)
	if err := <-first; err != nil {
		t.Error(err)
	}
}
