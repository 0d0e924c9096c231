package unpack

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"recfs/cache"
	"recfs/formats/source"

	"github.com/klauspost/compress/zstd"
)

// openUnpacker returns an unpacker of the files in dir with a disk cache in
// disk, unless that is empty, and the key of the file called name. In its
// memory files from 1 MiB on are large.
func openUnpacker(t testing.TB, dir, name, disk string) (*Unpacker, source.FileKey) {
	t.Helper()
	local, err := source.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	c := cache.New(4<<20, nil)
	t.Cleanup(c.Close)
	opt := Options{Log: slog.New(slog.DiscardHandler), Memory: NewMemory(c, 0)}
	if disk != "" {
		opt.Disk = cache.NewDisk(disk, 1<<30, nil)
	}
	return New(source.NewFiles(local), c, opt), keyOf(t, dir, name)
}

// keyOf returns the key of a file in dir as it is now.
func keyOf(t testing.TB, dir, name string) source.FileKey {
	t.Helper()
	local, err := source.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	info, err := local.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return source.FileKey{Path: name, Version: source.VersionOf(info)}
}

// openContent returns what a file decompresses to.
func openContent(t testing.TB, p *Unpacker, k source.FileKey) Content {
	t.Helper()
	c, err := p.Open(t.Context(), k, source.NewReader(p.files, k.Path, k.Version), Choice{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func writeFile(t testing.TB, dir, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// zstdWindow returns a zstd frame that asks for a window.
func zstdWindow(t testing.TB, b []byte, window int) []byte {
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
