package unpack

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/formatstest"
	"recfs/formats/source"
)

func TestUnpackedBackwards(t *testing.T) {
	content := formatstest.Compressible(3_000_000)
	for _, disk := range []string{t.TempDir(), ""} {
		dir := t.TempDir()
		writeFile(t, dir, "a.gz", formatstest.Gzip(t, content))
		p, k := openUnpacker(t, dir, "a.gz", disk)
		u, err := p.newStream(t.Context(), Gzip, source.NewReader(p.files, k.Path, k.Version), k.Version)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			off := rand.IntN(len(content))
			b := make([]byte, 100_000)
			n, err := u.ReadAt(t.Context(), b, int64(off))
			if want := content[off:min(off+len(b), len(content))]; !bytes.Equal(b[:n], want) || err != nil && err != io.EOF {
				t.Fatalf("at %d: %d bytes, %v", off, n, err)
			}
		}
		if n, err := u.length(t.Context()); n != int64(len(content)) || err != nil {
			t.Errorf("length %d, %v", n, err)
		}
		if n, err := u.ReadAt(t.Context(), make([]byte, 5), int64(len(content))); n != 0 || err != io.EOF {
			t.Errorf("behind the end: %d, %v", n, err)
		}
		u.idle()
		if n, err := u.ReadAt(t.Context(), make([]byte, 5), 2_500_000); n != 5 || err != nil {
			t.Errorf("after a while: %d, %v", n, err)
		}
		u.idle()
	}
}

// What stands behind the frames of a copy says how large it is: a change of
// any of its bytes is seen, and that it is the copy of another file, too.
func TestCopyTail(t *testing.T) {
	disk := cache.NewDisk(t.TempDir(), 1<<30, nil)
	s := newCopyWriter(disk, "some copy", formats.NewTally(formats.BytesReader([]byte("stored"))))
	for range 3 {
		if err := s.add(formatstest.Compressible(1000)); err != nil {
			t.Fatal(err)
		}
	}
	frames := s.ends[2]
	done := s.commit(3000, &Damage{Compression: "gzip", Stored: 10, Size: 3000, Err: io.ErrUnexpectedEOF}, formats.Stamp{})
	if done == nil || done.damage == nil || done.damage.Stored != 10 {
		t.Fatalf("%+v", done)
	}
	defer done.f.Close()
	whole, err := io.ReadAll(io.NewSectionReader(done.f, 0, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	open := func(b []byte, name string) error {
		f := filepath.Join(t.TempDir(), "copy")
		if err := os.WriteFile(f, b, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		s, err := openCopyFile(file, name)
		if err == nil {
			s.f.Close()
		}
		return err
	}
	if err := open(whole, "some copy"); err != nil {
		t.Errorf("undamaged: %v", err)
	}
	if open(whole, "another copy") == nil {
		t.Error("opened under another name")
	}
	for i := frames; i < int64(len(whole)); i++ {
		if open(whole[:i], "some copy") == nil {
			t.Errorf("cut at %d of %d bytes, and opened", i, len(whole))
		}
		for _, bit := range []byte{1, 0x80} {
			b := bytes.Clone(whole)
			b[i] ^= bit
			if open(b, "some copy") == nil {
				t.Errorf("byte %d of %d changed, and opened", i, len(whole))
			}
		}
	}
}

// A table of no frames is small in a file, and large in memory.
func TestSeekTableIsBounded(t *testing.T) {
	const n = maxFrames + 1
	b := binary.LittleEndian.AppendUint32(nil, 0x184D2A5E)
	b = binary.LittleEndian.AppendUint32(b, 8*n+9)
	b = append(b, make([]byte, 8*n)...)
	b = append(binary.LittleEndian.AppendUint32(b, n), 0)
	b = binary.LittleEndian.AppendUint32(b, 0x8F92EAB1)
	c := cache.New(1<<20, nil)
	defer c.Close()
	p := New(nil, c, Options{Memory: NewMemory(c, 0)})
	if p.openSeekable(t.Context(), formats.BytesReader(b), int64(len(b)), nil) != nil {
		t.Error("it is used as it is")
	}
}
