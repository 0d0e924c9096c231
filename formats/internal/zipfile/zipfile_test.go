package zipfile_test

import (
	"archive/zip"
	"bytes"
	"hash/crc32"
	"io"
	"math"
	"testing"
	"time"

	"recfs/formats/internal/zipfile"
)

// zeros is an archive whose entry is made of zero bytes.
type zeros struct {
	z    zipfile.Single
	size int64
}

func (s zeros) Size() int64 { return int64(len(s.z.Head)) + s.size + int64(len(s.z.Tail)) }

func (s zeros) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	head := int64(len(s.z.Head))
	if off < head {
		copy(p, s.z.Head[off:])
	}
	if tail := head + s.size; off+int64(len(p)) > tail {
		if off >= tail {
			return copy(p, s.z.Tail[off-tail:]), nil
		}
		copy(p[tail-off:], s.z.Tail)
	}
	return len(p), nil
}

// TestStored has the standard library read archives on both sides of the limits of Zip64.
func TestStored(t *testing.T) {
	when := time.Date(2022, 8, 13, 20, 15, 4, 0, time.UTC)
	for _, size := range []int64{0, 1, 5000, math.MaxUint32 - 100, math.MaxUint32 - 1, math.MaxUint32, math.MaxUint32 + 1, 1 << 40} {
		crc := crc32.ChecksumIEEE(make([]byte, min(size, 5000)))
		z := zipfile.NewSingle("match.echoreplay", when, zip.Store, size, size, crc)
		s := zeros{z, size}
		r, err := zip.NewReader(s, s.Size())
		if err != nil {
			t.Errorf("%d: %v", size, err)
			continue
		}
		f := r.File[0]
		if len(r.File) != 1 || f.Name != "match.echoreplay" || int64(f.UncompressedSize64) != size || f.Method != zip.Store ||
			!f.Modified.Equal(when) || f.Flags&9 != 0 {
			t.Errorf("%d: %+v", size, f.FileHeader)
		}
		if l, ok := zipfile.ParseLocal(z.Head); !ok || l.Size() != len(z.Head) || string(z.Head[zipfile.LocalSize:l.NameEnd()]) != f.Name {
			t.Errorf("%d: local header %+v", size, l)
		}
		if at, err := f.DataOffset(); err != nil || at != int64(len(z.Head)) {
			t.Errorf("%d: the content begins at %d, %v, want %d", size, at, err, len(z.Head))
		}
		if size > 5000 {
			continue
		}
		c, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, c); n != size || err != nil {
			t.Errorf("%d: %d bytes, %v", size, n, err)
		}
	}
	for year, want := range map[int]int{1970: 1980, 2200: 2107} {
		s := zeros{zipfile.NewSingle("x", time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), zip.Store, 0, 0, 0), 0}
		r, err := zip.NewReader(s, s.Size())
		if err != nil || r.File[0].Modified.Year() != want {
			t.Errorf("%d: %v, want %d", year, r.File[0].Modified, want)
		}
	}
}

// TestDeflated has the standard library find a deflated content on both sides of the limits of
// Zip64.
func TestDeflated(t *testing.T) {
	when := time.Date(2022, 8, 13, 20, 15, 4, 0, time.UTC)
	for _, size := range []int64{2, 5000, math.MaxUint32 - 1, math.MaxUint32, math.MaxUint32 + 1, 1 << 40} {
		s := zeros{zipfile.NewSingle("mätch.echoreplay", when, zip.Deflate, size, 3*size, 7), size}
		r, err := zip.NewReader(s, s.Size())
		if err != nil {
			t.Errorf("%d: %v", size, err)
			continue
		}
		f := r.File[0]
		if len(r.File) != 1 || f.Name != "mätch.echoreplay" || int64(f.CompressedSize64) != size || int64(f.UncompressedSize64) != 3*size ||
			f.Method != zip.Deflate || f.CRC32 != 7 || !f.Modified.Equal(when) || f.Flags != 1<<3|1<<11 {
			t.Errorf("%d: %+v", size, f.FileHeader)
		}
		if at, err := f.DataOffset(); err != nil || at != int64(len(s.z.Head)) {
			t.Errorf("%d: the content begins at %d, %v, want %d", size, at, err, len(s.z.Head))
		}
		if other := zipfile.NewSingle("mätch.echoreplay", when, zip.Deflate, 0, 3*size, 7); !bytes.Equal(other.Head, s.z.Head) {
			t.Errorf("%d: the head depends on it", size)
		}
	}
}

// TestParseLocal reads the header that package zip writes, and nothing else.
func TestParseLocal(t *testing.T) {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	f, err := w.CreateHeader(&zip.FileHeader{Name: "näme", Method: zip.Deflate, Extra: []byte{9, 0, 1, 0, 7}})
	if err == nil {
		_, err = f.Write([]byte("content"))
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	b := buf.Bytes()
	l, ok := zipfile.ParseLocal(b)
	if want := (zipfile.Local{Method: zip.Deflate, NameSize: 5, ExtraSize: 5}); !ok || l != want {
		t.Errorf("%+v, want %+v", l, want)
	}
	if name := string(b[zipfile.LocalSize:l.NameEnd()]); name != "näme" || l.Size() != zipfile.LocalSize+10 {
		t.Errorf("%q, %d bytes", name, l.Size())
	}
	for name, b := range map[string][]byte{"cut": b[:zipfile.LocalSize-1], "empty": nil, "another record": b[1:]} {
		if _, ok := zipfile.ParseLocal(b); ok {
			t.Errorf("%s: a header", name)
		}
	}
}

// TestNames has the standard library read names, of which it tells whether they are UTF-8.
func TestNames(t *testing.T) {
	for name, utf8 := range map[string]bool{"plain": false, "härter": true, "bad\xff": false, "": false} {
		z := zipfile.NewSingle(name, time.Unix(1e9, 0), zip.Store, 3, 3, crc32.ChecksumIEEE([]byte("abc")))
		b := append(append(bytes.Clone(z.Head), "abc"...), z.Tail...)
		r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if f := r.File[0]; f.Name != name || (f.Flags&(1<<11) != 0) != utf8 {
			t.Errorf("%q: %q, flags %#x", name, f.Name, f.Flags)
		}
	}
}
