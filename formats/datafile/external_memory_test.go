package datafile

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"syscall"
	"testing"
	"testing/fstest"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
)

// The pixels of an external image are counted before they are made, where they have their own form
// and where not, and are given back.
func TestExternalMemory(t *testing.T) {
	rect := image.Rect(0, 0, 1500, 1000)
	for name, m := range map[string]image.Image{"rgba": image.NewNRGBA(rect), "gray": image.NewGray(rect)} {
		var file bytes.Buffer
		if err := png.Encode(&file, m); err != nil {
			t.Fatal(err)
		}
		x := &externalImage{name: "x", file: formats.File{ReaderAt: formats.BytesReader(file.Bytes()), Stamp: formats.Stamp{Size: int64(file.Len())}}}
		c := cache.New(0, nil)
		tries := 0
		err := c.Do(t.Context(), 0, func(ctx context.Context) error {
			tries++
			m, held, err := x.decode(ctx)
			defer held.Free()
			if err == nil && m.Rect != rect {
				t.Errorf("%s: %v", name, m.Rect)
			}
			return err
		})
		now, peak := c.Work()
		if want := int64(2 * 4 * 1500 * 1000); err != nil || tries < 2 || peak < want || now != 0 {
			t.Errorf("%s: %v after %d tries; %d bytes at most, %d expected, %d left", name, err, tries, peak, want, now)
		}
		c.Close()
	}
}

// A failing is an image that opens, and fails to be read behind its first bytes.
type failing struct {
	err   error
	first int // bytes
}

func (f *failing) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	if int(off)+len(p) <= f.first {
		return len(p), nil
	}
	return 0, f.err
}

// replaced is a folder in whose place is another one after the first look.
type replaced struct {
	first *failing
	then  formats.Folder
}

func (d *replaced) Open(ctx context.Context, name string) (formats.File, error) {
	f := formats.File{ReaderAt: d.first, Name: name, Stamp: formats.Stamp{Size: 8}}
	if d.first == nil {
		return d.then.Open(ctx, name)
	}
	d.first = nil
	return f, nil
}

// An image that may not be read hides none of that name elsewhere.
func TestExternalUnreadable(t *testing.T) {
	unread := func() formats.Folder { return &replaced{first: &failing{err: os.ErrPermission}} }
	other := formatstest.Folder{FS: fstest.MapFS{"x.png": {Data: []byte("other")}}}
	f, ok := findImage(t.Context(), []formats.Folder{unread(), other}, "x")
	if b, err := f.All(t.Context()); !ok || string(b) != "other" || err != nil {
		t.Errorf("found %q, %t, %v", b, ok, err)
	}
	if _, ok := findImage(t.Context(), []formats.Folder{unread()}, "x"); ok {
		t.Error("found what may not be read")
	}
}

// An image that fails to be read is left out of no picture, which would be kept. It is looked for
// again.
func TestExternalFails(t *testing.T) {
	mapres := &replaced{&failing{syscall.EIO, 1}, formatstest.Folder{FS: fstest.MapFS{}}}
	root, err := openTree(t, externalMap("x").bytes(), Options{Mapres: []formats.Folder{mapres}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nodes.ReadFile(t.Context(), root, "preview.png"); !errors.Is(err, syscall.EIO) {
		t.Errorf("it is drawn without: %v", err)
	}
	readFile(t, root, "preview.png")
}
