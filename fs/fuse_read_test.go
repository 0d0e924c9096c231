//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"

	"recfs/cache"
	"recfs/nodes"
)

// How often a file is opened, which is decoding it, follows from what was read of it.
func TestReadersShareOneOpen(t *testing.T) {
	const size = 64 << 10
	type part struct{ off, n int64 }
	all, first, second := part{0, size}, part{0, size / 2}, part{size / 2, size / 2}
	for name, test := range map[string]struct {
		reads []part
		opens int32
		kept  int // that stay open
	}{
		"one reader":                         {[]part{all}, 1, 0},
		"in steps":                           {[]part{first, second}, 1, 0},
		"backwards":                          {[]part{second, first}, 1, 0},
		"half a file":                        {[]part{first}, 1, 1},
		"two readers of half a file each":    {[]part{first, first, second, second}, 1, 1},
		"one stops in the middle":            {[]part{first, all, second}, 1, 1},
		"a second one after all of the file": {[]part{all, all}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := &countedFile{size: size}
			k := newKernel(t, nodes.List(nodes.Entry{Name: "f", File: f}), Options{})
			id := k.walk("f").NodeId
			for _, r := range test.reads {
				if _, status := k.read(id, r.off, int(r.n)); status != fuse.OK {
					t.Fatal(status)
				}
			}
			if opens := f.opens.Load(); opens != test.opens {
				t.Errorf("opened %d times, want %d", opens, test.opens)
			}
			if kept := k.server.contents.Len(); kept != test.kept {
				t.Errorf("%d stay open, want %d", kept, test.kept)
			}
		})
	}
}

// TestContentsCount reads the halves of many files that are made in memory, by many readers at
// once: what stays open, and what is read, counts in the account.
func TestContentsCount(t *testing.T) {
	const files, readers, size = 60, 30, 800 << 10
	c := cache.New(1<<20, nil)
	t.Cleanup(c.Close)
	series := &nodes.Series{Width: 2, N: files, File: func(n int64) nodes.File {
		return nodes.Sized(size, func(context.Context) ([]byte, error) {
			return bytes.Repeat([]byte{byte(n)}, size), nil
		})
	}}
	k := newKernel(t, series, Options{Cache: c})
	ids := make([]uint64, files)
	for i := range ids {
		ids[i] = k.walk(fmt.Sprintf("%02d", i)).NodeId
	}
	var wg sync.WaitGroup
	for r := range readers {
		wg.Go(func() {
			for i := range files {
				n := (i + r) % files
				b, status := k.read(ids[n], size/2, size/4)
				if status != fuse.OK || len(b) != size/4 || b[0] != byte(n) {
					t.Errorf("file %d: %d bytes, %v", n, len(b), status)
				}
			}
		})
	}
	wg.Wait()
	const lanes = 24<<20 + 1<<19
	if now, peak := c.Work(); now != int64(k.server.contents.Len())*size || peak > lanes {
		t.Errorf("%d bytes for %d that are open, %d at most, want %d", now, k.server.contents.Len(), peak, lanes)
	}
	k.server.contents.Close()
	if now, _ := c.Work(); now != 0 {
		t.Errorf("%d bytes of what is closed", now)
	}
}

// A file of which a read failed is opened anew for the next READ.
func TestFailedContentIsNotKept(t *testing.T) {
	opens := 0
	file := nodes.Stream(64, func(context.Context) (nodes.Content, error) {
		if opens++; opens == 1 {
			failing := nodes.NewPieces(func(context.Context, int) ([]byte, error) { return nil, errors.New("bad block") })
			failing.Add(64)
			return failing, nil
		}
		return nodes.BytesContent(make([]byte, 64)), nil
	})
	k := newKernel(t, nodes.List(nodes.Entry{Name: "f", File: file}), Options{})
	id := k.walk("f").NodeId
	for i, want := range []fuse.Status{fuse.EIO, fuse.OK, fuse.OK} {
		if _, status := k.read(id, 0, 10); status != want {
			t.Errorf("read %d: %v, want %v", i, status, want)
		}
	}
	if opens != 2 {
		t.Errorf("opened %d times", opens)
	}
}

// A countedFile counts how often it was opened and how many of its Contents
// are open.
type countedFile struct {
	size          int64
	opens, active atomic.Int32
	fail          func(ctx context.Context) error
}

func (f *countedFile) Size(context.Context) (int64, error) { return f.size, nil }

func (f *countedFile) Open(ctx context.Context) (nodes.Content, error) {
	f.opens.Add(1)
	if f.fail != nil {
		if err := f.fail(ctx); err != nil {
			return nil, err
		}
	}
	f.active.Add(1)
	return &countedContent{file: f}, nil
}

type countedContent struct {
	file   *countedFile
	closed atomic.Bool
}

func (c *countedContent) Size() int64 { return c.file.size }

func (c *countedContent) ReadAt(_ context.Context, b []byte, _ int64) (int, error) {
	if c.closed.Load() {
		return 0, errors.New("read of a closed file")
	}
	return len(b), nil
}

func (c *countedContent) Close() error {
	if c.closed.Swap(true) {
		return errors.New("closed twice")
	}
	c.file.active.Add(-1)
	return nil
}

// What a content lends is the reply, and goes back when that was written, also where the read
// failed.
func TestLent(t *testing.T) {
	var lent atomic.Int64
	short := false
	content := nodes.NewLoans(func(ctx context.Context, i int) ([]byte, func(int), error) {
		if i == 1 && short {
			return nil, nil, nodes.ErrStale
		}
		lent.Add(1)
		return bytes.Repeat([]byte{'a' + byte(i)}, 10), func(int) { lent.Add(-1) }, nil
	})
	content.Add(10)
	content.Add(10)
	file := nodes.Stream(20, func(context.Context) (nodes.Content, error) { return content, nil })
	k := newKernel(t, nodes.List(nodes.Entry{Name: "f", File: file}), Options{})
	id := k.walk("f").NodeId
	in := &fuse.ReadIn{InHeader: fuse.InHeader{NodeId: id}, Offset: 8}
	result, status := k.server.Read(nil, in, make([]byte, 100))
	if status != fuse.OK || lent.Load() != 2 || result.Size() != 12 {
		t.Fatalf("%v, %d pieces are lent", status, lent.Load())
	}
	parts, _ := result.(interface {
		Slices() ([][]byte, fuse.Status)
	}).Slices()
	if got := string(bytes.Join(parts, nil)); got != "aabbbbbbbbbb" {
		t.Errorf("got %q", got)
	}
	result.Done()
	if b, status := k.read(id, 20, 5); status != fuse.OK || len(b) > 0 {
		t.Errorf("behind the end: %q, %v", b, status)
	}
	short = true
	if _, status := k.read(id, 0, 20); status == fuse.OK {
		t.Error("a read without its second piece worked")
	}
	if n := lent.Load(); n != 0 {
		t.Errorf("%d pieces were not given back", n)
	}
}
