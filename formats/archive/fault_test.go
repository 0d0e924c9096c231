package archive

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/source"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

func TestMain(m *testing.M) { nodestest.Main(m) }

var errInjected = errors.New("injected")

// A faulty is a tree whose operations fail, stop short or are slow at
// random while it is told so.
type faulty struct {
	source.Tree
	on atomic.Bool
}

func (f *faulty) fault() error {
	if !f.on.Load() {
		return nil
	}
	switch rand.IntN(20) {
	case 0, 1:
		return errInjected
	case 2:
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
	}
	return nil
}

func (f *faulty) Open(ctx context.Context, name string) (source.File, error) {
	if err := f.fault(); err != nil {
		return nil, err
	}
	file, err := f.Tree.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return &faultyFile{file, f}, nil
}

func (f *faulty) Stat(ctx context.Context, name string) (source.Info, error) {
	if err := f.fault(); err != nil {
		return source.Info{}, err
	}
	return f.Tree.Stat(ctx, name)
}

type faultyFile struct {
	source.File
	f *faulty
}

func (f *faultyFile) Info(ctx context.Context) (source.Info, error) {
	if err := f.f.fault(); err != nil {
		return source.Info{}, err
	}
	return f.File.Info(ctx)
}

func (f *faultyFile) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if err := f.f.fault(); err != nil {
		return 0, err
	}
	if f.f.on.Load() && len(p) > 1 && rand.IntN(20) == 0 { // cut short, as if the file were
		n, _ := f.File.ReadAt(ctx, p[:len(p)/2], off)
		return n, io.EOF
	}
	return f.File.ReadAt(ctx, p, off)
}

// A source that fails at random gives errors or right bytes, never wrong
// ones, and everything once it is well again.
func TestFaultySource(t *testing.T) {
	nodestest.Long(t)
	content := formatstest.Compressible(1_500_000)
	dir := t.TempDir()
	files := map[string][]byte{
		"a.rec": content, "small.rec.gz": formatstest.Gzip(t, content[:50_000]), "large.rec.gz": formatstest.Gzip(t, content),
		"large.stream.gz": formatstest.Gzip(t, content), "seekable.rec.zst": packSeekable(t, content, 100_000),
		"in.tar": formatstest.Tar(t, entry{"a.rec", string(content)}),
	}
	want := map[string]string{"in.tar/a.rec/body": string(content[3:])}
	for name, b := range files {
		write(t, dir, name, string(b))
		if name == "in.tar" {
			continue
		}
		want[name+"/raw"], want[name+"/body"] = string(b), string(content[3:])
	}
	want["small.rec.gz/body"] = string(content[3:50_000])
	local, err := source.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	fsys := &faulty{Tree: local}
	c := cache.New(4<<20, nil)
	defer c.Close()
	root := New(fsys, append([]formats.Format{streaming}, testFormats...), c, Options{Disk: cache.NewDisk(t.TempDir(), 1<<30, nil)})

	fsys.on.Store(true)
	var wg sync.WaitGroup
	var good, bad atomic.Int64
	for range 64 {
		wg.Go(func() {
			for range 8 {
				for name, content := range want {
					got, off, err := readSome(t, root, name)
					switch {
					case err != nil:
						bad.Add(1)
					case !strings.HasPrefix(content[off:], got):
						t.Errorf("%s: wrong bytes at %d", name, off)
					default:
						good.Add(1)
					}
				}
			}
		})
	}
	wg.Wait()
	if good.Load() == 0 || bad.Load() == 0 {
		t.Errorf("%d good reads, %d bad", good.Load(), bad.Load())
	}
	fsys.on.Store(false)
	for name, content := range want {
		if got, err := read(t, root, name); err != nil || got != content {
			t.Errorf("%s after it is well again: %d bytes, %v", name, len(got), err)
		}
	}
}

// readSome reads a random part of a file and returns where it is.
func readSome(t *testing.T, root nodes.Dir, name string) (string, int64, error) {
	e, err := nodes.Lookup(t.Context(), root, name)
	if err != nil {
		return "", 0, err
	}
	if e.File == nil {
		t.Errorf("%s is no file", name)
		return "", 0, iofs.ErrInvalid
	}
	c, err := e.File.Open(t.Context())
	if err != nil {
		return "", 0, err
	}
	off := rand.Int64N(c.Size())
	b := make([]byte, min(c.Size()-off, 1+rand.Int64N(10_000)))
	_, err = c.ReadAt(t.Context(), b, off)
	if err == io.EOF {
		err = nil
	}
	return string(b), off, err
}

// An unreadable is a tree in which no file can be opened while it is told so.
type unreadable struct {
	source.Tree
	why *error
}

func (u unreadable) Open(ctx context.Context, name string) (source.File, error) {
	if *u.why != nil {
		return nil, *u.why
	}
	return u.Tree.Open(ctx, name)
}

// TestUnread holds that a file of which it is not known what it is says why, and is looked at
// again.
func TestUnread(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.lump", "LUMP")
	write(t, dir, "b.txt", "text")
	var why error
	for _, why = range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EIO} {
		root := New(unreadable{formatstest.OpenLocal(t, dir), &why}, testFormats, formatstest.NewCache(t), Options{})
		if e, err := nodes.Child(t.Context(), root, "a.lump"); !errors.Is(err, why) {
			t.Errorf("%v, which says nothing of a file: %+v, %v", why, e, err)
		}
		list, err := root.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if name, _, err := nodes.AppendName(t.Context(), list, nil, 0); string(name) != "a.lump" || err != nil {
			t.Errorf("%v: listed as %q, %v", why, name, err)
		}
	}
	for _, why = range []error{syscall.EACCES, syscall.EPERM} {
		root := New(unreadable{formatstest.OpenLocal(t, dir), &why}, testFormats, formatstest.NewCache(t), Options{})
		e, err := nodes.Child(t.Context(), root, "a.lump")
		again, _ := nodes.Child(t.Context(), root, "a.lump")
		if err != nil || e.Dir != nil || !errors.Is(Unread(t.Context(), e.File), why) || e.File != again.File {
			t.Fatalf("%v: %+v, %v", why, e, err)
		}
		if e, err := nodes.Child(t.Context(), root, "b.txt"); err != nil || Unread(t.Context(), e.File) != nil {
			t.Errorf("a file that is no recording by its name: %v, %v", err, Unread(t.Context(), e.File))
		}
		why = nil
		if !errors.Is(Unread(t.Context(), e.File), nodes.ErrStale) {
			t.Error("it can be read by now")
		}
		if e, err := nodes.Child(t.Context(), root, "a.lump"); err != nil || e.Dir == nil {
			t.Errorf("%+v, %v", e, err)
		}
	}
}
