package unpack

import (
	"bytes"
	"compress/flate"
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/source"
	"recfs/nodes/nodestest"
)

func deflated(t testing.TB, b []byte) []byte {
	t.Helper()
	return formatstest.Packed(t, b, func(w io.Writer) (*flate.Writer, error) { return flate.NewWriter(w, flate.BestSpeed) })
}

// TestAtOnce reads the stored bytes of a sound stream once, and charges nothing for it; what is
// said of one that is not sound is told by frames.
func TestAtOnce(t *testing.T) {
	noise := make([]byte, 70_000)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for _, c := range []struct {
		content []byte
		damaged bool
		work    int64
	}{
		{formatstest.Compressible(70_000), false, 0},
		{noise, false, 0},
		{noise, true, 1 << 20},
	} {
		packed := deflated(t, c.content)
		if c.damaged {
			packed = packed[:len(packed)-10]
		}
		accounts := cache.New(4<<20, nil)
		defer accounts.Close()
		p, n := New(nil, accounts, Options{}), int64(len(packed))
		raw := &nodestest.Counted{ReaderAt: formats.BytesReader(packed)}
		key := source.FileKey{Path: "a", Version: source.Version{Stamp: formats.Stamp{Size: n}}}
		s := p.Expand(key, nil, Deflate, raw, int64(len(c.content)))
		b := make([]byte, 128<<10)
		err := accounts.Do(t.Context(), 0, func(ctx context.Context) error {
			got, err := s.ReadAt(ctx, b, 0)
			if err == io.EOF && !c.damaged && !bytes.Equal(b[:got], c.content) {
				t.Errorf("it gives other %d bytes", got)
			}
			return err
		})
		_, peak := accounts.Work()
		if once := raw.Bytes.Load() == n; err != io.EOF || once == c.damaged || peak < c.work || c.work < 1<<20 && peak > c.work {
			t.Errorf("damaged %t: %v; %d bytes read of %d, memory for %d, want %d", c.damaged, err, raw.Bytes.Load(), n, peak, c.work)
		}
		if d, err := s.Damaged(t.Context()); (d != nil) != c.damaged || err != nil {
			t.Errorf("damaged %t: %v, %v", c.damaged, d, err)
		}
	}
}
