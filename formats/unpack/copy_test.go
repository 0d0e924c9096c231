package unpack

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
)

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
	done := s.commit(t.Context(), 3000, &Damage{Compression: "gzip", Stored: 10, Size: 3000, Err: io.ErrUnexpectedEOF}, formats.Stamp{})
	if done == nil || done.damage == nil || done.damage.Stored != 10 {
		t.Fatalf("%+v", done)
	}
	defer done.f.Close()
	whole, err := io.ReadAll(io.NewSectionReader(done.f.(*cache.LocalFile).File, 0, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	f := filepath.Join(t.TempDir(), "copy")
	open := func(b []byte, name string) error {
		if err := os.WriteFile(f, b, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		local, err := cache.NewLocalFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := openCopyFile(t.Context(), local, name)
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

// TestCopyFrames reads a copy while it is written, when it is complete, and when it is damaged.
func TestCopyFrames(t *testing.T) {
	content := formatstest.Compressible(5*frameSize + 1000)
	disk := cache.NewDisk(t.TempDir(), 1<<30, nil)
	s := newCopyWriter(disk, "a", formats.NewTally(formats.BytesReader(nil)))
	for part := range slices.Chunk(content, frameSize) {
		if err := s.add(part); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := s.frame(t.Context(), 0); err != nil || !bytes.Equal(b, content[:frameSize]) {
		t.Errorf("frame 0 while it is written: %d bytes, %v", len(b), err)
	}
	done := s.commit(t.Context(), int64(len(content)), nil, formats.Stamp{})
	defer done.f.Close()
	for i := range int64(6) {
		want := content[i*frameSize : min((i+1)*frameSize, int64(len(content)))]
		if b, err := done.frame(t.Context(), i); err != nil || !bytes.Equal(b, want) {
			t.Errorf("frame %d: %d bytes, %v", i, len(b), err)
		}
	}
	if _, err := done.frame(t.Context(), 6); err == nil {
		t.Error("there is a frame behind the last one")
	}
	for _, off := range []int64{0, done.ends[0] - 1} {
		var b [1]byte
		if _, err := done.f.ReadAt(t.Context(), b[:], off); err != nil {
			t.Fatal(err)
		}
		if _, err := done.f.(*cache.LocalFile).WriteAt([]byte{b[0] ^ 1}, off); err != nil {
			t.Fatal(err)
		}
		if _, err := done.frame(t.Context(), 0); err == nil {
			t.Errorf("byte %d of a frame changed, and it was read", off)
		}
	}
}
