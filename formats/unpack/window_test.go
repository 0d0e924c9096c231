package unpack_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"recfs/cache"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// Each frame of a file may ask for a window of its own.
func TestWindowGrows(t *testing.T) {
	content := formatstest.Compressible(6_000_000)
	var packed []byte
	for i, window := range []int{1 << 20, 32 << 20, 1 << 20, 64 << 20} {
		packed = append(packed, formatstest.ZstdWindow(t, content[i*1_500_000:][:1_500_000], window)...)
	}
	dir := t.TempDir()
	writeFile(t, dir, "a.zst", packed)
	for _, disk := range []string{"", t.TempDir()} {
		p, k := openUnpacker(t, dir, "a.zst", disk)
		c, err := p.Open(t.Context(), k, rawOf(t, dir, k), unpack.Choice{Content: contentOf(t, dir, disk, k)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(nodes.Reader(t.Context(), nodes.SectionContent(c, 0, c.Size)))
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		p.CloseStreams()
		if n, _ := p.Work(); n != 0 {
			t.Errorf("%d bytes not given back", n)
		}
	}
}

// A decoder that nobody reads makes room for one that is read.
func TestMemoryReclaims(t *testing.T) {
	nodestest.Long(t)
	sent := formatstest.Compressible(4_000_000)
	dir := t.TempDir()
	const files = 8
	for i := range files {
		writeFile(t, dir, fmt.Sprintf("%d.zst", i), formatstest.ZstdWindow(t, sent, 8<<20))
	}
	p, _ := openUnpacker(t, dir, "0.zst", "")
	var all []unpack.Content
	for i := range files {
		all = append(all, openContent(t, p, dir, keyOf(t, dir, fmt.Sprintf("%d.zst", i))))
	}
	for range 2 {
		for i, c := range all {
			b := make([]byte, 1000)
			if _, err := c.ReadAt(t.Context(), b, 1_000_000); err != nil || !bytes.Equal(b, sent[1_000_000:][:1000]) {
				t.Errorf("%d: %v", i, err)
			}
			if n, _ := p.Work(); n > 30<<20 {
				t.Errorf("%d bytes for decoders, 27 MiB are enough for three", n)
			}
		}
	}
}

// TestBzip2WindowGrows reads a block that does not fit into the window that is tried first.
func TestBzip2WindowGrows(t *testing.T) {
	nodestest.Long(t)
	s := unpack.Bzip2Samples["runs"]
	packed, err := base64.StdEncoding.DecodeString(s.Packed)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, sound := range []bool{true, false} {
		if !sound {
			packed[len(packed)-40] ^= 1
		}
		writeFile(t, dir, "r.bz2", packed)
		p, k := openUnpacker(t, dir, "r.bz2", "")
		c := openContent(t, p, dir, k)
		got, err := io.ReadAll(nodes.Reader(t.Context(), nodes.SectionContent(c, 0, c.Size)))
		if err != nil || len(got) == 0 || !strings.HasPrefix(s.Content, string(got)) || sound != (string(got) == s.Content) {
			t.Errorf("sound: %v, %d bytes, %v", sound, len(got), err)
		}
		if d, err := c.Damage(t.Context()); err != nil || sound != (d == nil) {
			t.Errorf("sound: %v, but %v, %v", sound, d, err)
		}
	}
}

// A countingReader counts the bytes that are read.
type countingReader struct {
	nodes.ReaderAt
	bytes atomic.Int64
}

func (r *countingReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(ctx, p, off)
	r.bytes.Add(int64(n))
	return n, err
}

// TestLargeBesideWork reads a file to its end while something else leaves little of the cache: it
// is not inflated again for each piece.
func TestLargeBesideWork(t *testing.T) {
	nodestest.Long(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	sent := formatstest.Compressible(6 << 20)
	_, _ = z.Write(sent)
	_ = z.Close()
	dir := t.TempDir()
	writeFile(t, dir, "a.gz", packed.Bytes())
	c := cache.New(32<<20, nil)
	defer c.Close()
	local, err := source.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	p := unpack.New(source.NewFiles(local, c), c, unpack.Options{Log: slog.New(slog.DiscardHandler)})
	k := keyOf(t, dir, "a.gz")
	raw := &countingReader{ReaderAt: rawOf(t, dir, k)}
	err = c.Do(t.Context(), 80<<20, func(ctx context.Context) error {
		content, err := p.Open(ctx, k, raw, unpack.Choice{})
		if err != nil {
			return err
		}
		got, err := io.ReadAll(nodes.Reader(ctx, nodes.SectionContent(content, 0, content.Size)))
		if !bytes.Equal(got, sent) {
			t.Errorf("%d bytes, want %d", len(got), len(sent))
		}
		return err
	})
	if n := raw.bytes.Load(); err != nil || n > 3*int64(packed.Len()) {
		t.Errorf("%v, %d bytes are read of %d", err, n, packed.Len())
	}
}
