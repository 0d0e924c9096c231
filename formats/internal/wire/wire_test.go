package wire

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"recfs/formats"
)

func isSize(err error) bool { return errors.As(err, new(*sizeError)) }

func TestCursorReadsFields(t *testing.T) {
	c := NewCursor("test", []byte{1, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 'h', 'i', 0, 0xac, 0x02, 9, 9}, 100)
	if got := []uint64{uint64(c.U8()), uint64(c.U16()), uint64(c.U32()), c.U64()}; got[0] != 1 || got[1] != 2 || got[2] != 3 || got[3] != 4 {
		t.Errorf("fields %v, want 1 2 3 4", got)
	}
	if s := c.CString(16); string(s) != "hi" {
		t.Errorf("string %q", s)
	}
	if n := c.Uvarint(5); n != 300 {
		t.Errorf("varint %d, want 300", n)
	}
	if c.Offset() != 120 || c.Len() != 2 || !bytes.Equal(c.Rest(), []byte{9, 9}) || c.Err() != nil {
		t.Errorf("at %d, %d left, %v", c.Offset(), c.Len(), c.Err())
	}
}

func TestCursorFailureSticks(t *testing.T) {
	c := NewCursor("test", []byte{1, 2, 3}, 100)
	c.U16()
	if c.U32() != 0 || c.U8() != 0 || c.Len() != 0 || c.Bytes(0) != nil {
		t.Error("a read behind a failure gave a value")
	}
	var e *formats.Error
	if !errors.As(c.Err(), &e) || e.Format != "test" || e.Offset != 103 || !errors.Is(e, io.ErrUnexpectedEOF) {
		t.Errorf("error %#v", c.Err())
	}
}

func TestCursorBounds(t *testing.T) {
	for name, read := range map[string]func(*Cursor){
		"negative length": func(c *Cursor) { c.Bytes(-1) },
		"huge length":     func(c *Cursor) { c.Bytes(math.MaxInt) },
		"string":          func(c *Cursor) { c.CString(100) },
		"long string":     func(c *Cursor) { c.CString(2) },
		"varint":          func(c *Cursor) { c.Uvarint(2) },
		"cut varint":      func(c *Cursor) { c.Uvarint(9) },
	} {
		c := NewCursor("test", []byte{0xff, 0xff, 0xff}, 0)
		if read(c); c.Err() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestZigzag(t *testing.T) {
	for u, want := range map[uint64]int64{0: 0, 1: -1, 2: 1, 0x7f: -64, math.MaxUint64: math.MinInt64} {
		if got := Zigzag(u); got != want {
			t.Errorf("Zigzag(%d) = %d, want %d", u, got, want)
		}
	}
}

// compressed returns content in the three compressions.
func compressed(t testing.TB, content []byte) (z, gz, zst []byte) {
	t.Helper()
	var zb, gb bytes.Buffer
	zw, gw := zlib.NewWriter(&zb), gzip.NewWriter(&gb)
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{zw, gw} {
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return zb.Bytes(), gb.Bytes(), enc.EncodeAll(content, nil)
}

func TestDecompressors(t *testing.T) {
	content := []byte(strings.Repeat("all work and no play ", 100_000))
	size := int64(len(content))
	z, gz, zst := compressed(t, content)
	for name, expand := range map[string]func(limit int64, cut int) ([]byte, error){
		"zlib": func(limit int64, cut int) ([]byte, error) {
			b, _, err := Zlib(z[:max(0, len(z)-cut)], limit)
			return b, err
		},
		"gzip": func(limit int64, cut int) ([]byte, error) { return Gunzip(nil, gz[:max(0, len(gz)-cut)], limit) },
		"zstd": func(limit int64, cut int) ([]byte, error) { return Unzstd(zst[:max(0, len(zst)-cut)], limit) },
	} {
		for range 3 { // pooled decoders are used again, also behind an error
			if b, err := expand(size, 0); err != nil || !bytes.Equal(b, content) {
				t.Errorf("%s: %d bytes, %v", name, len(b), err)
			}
			if b, err := expand(size-1, 0); !isSize(err) || !bytes.Equal(b, content[:size-1]) {
				t.Errorf("%s with a limit one too small: %d bytes, %v", name, len(b), err)
			}
			b, err := expand(size, 2)
			if !errors.Is(err, formats.ErrCorrupt) || isSize(err) || !bytes.HasPrefix(content, b) {
				t.Errorf("%s cut: %d bytes, %v", name, len(b), err)
			}
		}
		if _, err := expand(size, 1<<30); err == nil {
			t.Errorf("%s of nothing: no error", name)
		}
	}
	if b, _, err := Zlib(z, size+1); !isSize(err) || !bytes.Equal(b, content) {
		t.Errorf("zlib of fewer bytes than announced: %d bytes, %v", len(b), err)
	}
	if _, rest, err := Zlib(append(bytes.Clone(z), "tail"...), size); rest != 4 || err != nil {
		t.Errorf("%d bytes behind the stream, %v, want 4", rest, err)
	}
}

func FuzzDecompressors(f *testing.F) {
	z, gz, zst := compressed(f, []byte("some content, some content"))
	f.Add(z, int64(26))
	f.Add(gz, int64(26))
	f.Add(zst, int64(5))
	f.Fuzz(func(t *testing.T, src []byte, limit int64) {
		limit = limit & 0xfffff
		for _, expand := range []func() ([]byte, error){
			func() ([]byte, error) { b, _, err := Zlib(src, limit); return b, err },
			func() ([]byte, error) { return Gunzip(nil, src, limit) },
			func() ([]byte, error) { return Unzstd(src, limit) },
		} {
			if b, _ := expand(); int64(len(b)) > limit {
				t.Errorf("%d bytes with a limit of %d", len(b), limit)
			}
		}
	})
}
