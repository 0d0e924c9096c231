package unpack_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// openUnpacker returns an unpacker of the files in dir with a disk cache in
// disk, unless that is empty, and the key of the file called name. In its
// memory files from 256 KiB on are large.
func openUnpacker(t testing.TB, dir, name, disk string) (*unpack.Unpacker, source.FileKey) {
	t.Helper()
	local, err := source.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	c := cache.New(4<<20, nil)
	t.Cleanup(c.Close)
	opt := unpack.Options{Log: slog.New(slog.DiscardHandler)}
	if disk != "" {
		opt.Disk = cache.NewDisk(disk, 1<<30, nil)
	}
	return unpack.New(source.NewFiles(local, c), c, opt), keyOf(t, dir, name)
}

// keyOf returns the key of a file in dir as it is now.
func keyOf(t testing.TB, dir, name string) source.FileKey {
	t.Helper()
	local, err := source.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	info, err := local.Stat(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return source.FileKey{Path: name, Version: info.Version}
}

// contentOf returns what names the copy of a file.
func contentOf(t testing.TB, dir, disk string, k source.FileKey) *formats.Content {
	t.Helper()
	if disk == "" {
		return nil
	}
	return formats.NewContents(cache.NewDisk(disk, 1<<30, nil)).Of(dir+"/"+k.Path, k.Version.Stamp, func(ctx context.Context) (string, error) {
		return formats.ContentKey(ctx, rawOf(t, dir, k), k.Version.Size)
	})
}

// openContent returns what a file decompresses to.
func openContent(t testing.TB, p *unpack.Unpacker, dir string, k source.FileKey) unpack.Content {
	t.Helper()
	c, err := p.Open(t.Context(), k, rawOf(t, dir, k), unpack.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rawOf returns the stored bytes of a file.
func rawOf(t testing.TB, dir string, k source.FileKey) nodes.ReaderAt {
	t.Helper()
	local, err := source.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	return source.NewReader(source.NewFiles(local, nil), k)
}

// A stuckReader reads nothing until stuck is closed.
type stuckReader struct {
	nodes.ReaderAt
	stuck   chan struct{}
	reached atomic.Bool
}

func (r *stuckReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	r.reached.Store(true)
	<-r.stuck
	return r.ReaderAt.ReadAt(ctx, p, off)
}

// wait returns when somebody is in a read.
func (r *stuckReader) wait(t testing.TB) {
	for !r.reached.Load() {
		if t.Context().Err() != nil {
			t.Fatal("nobody reads")
		}
		runtime.Gosched()
	}
}

func writeFile(t testing.TB, dir, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
		t.Fatal(err)
	}
}
