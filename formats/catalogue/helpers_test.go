package catalogue

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/source"
	"recfs/nodes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rec is a format for tests: "REC" and the bytes that its file body shows.
var rec = formats.Format{
	Name:       "rec",
	Extensions: []string{".rec"},
	Match:      func(head []byte) bool { return bytes.HasPrefix(head, []byte("REC")) },
	Open: func(ctx context.Context, src formats.Input, _ *cache.Cache) (nodes.Dir, error) {
		head := make([]byte, 3)
		if _, err := src.ReadAt(ctx, head, 0); err != nil && err != io.EOF {
			return nil, err
		}
		if string(head) != "REC" {
			return nil, formats.Corrupt("rec", 0, "no magic")
		}
		return nodes.List(nodes.Entry{Name: "body", File: nodes.Func(func(ctx context.Context) ([]byte, error) {
			size, err := src.Length(ctx)
			if err != nil {
				return nil, err
			}
			return io.ReadAll(io.NewSectionReader(src.At(ctx), 3, size-3))
		})}), nil
	},
}

// newRoot returns an archive with its catalogue.
func newRoot(fsys iofs.FS, list []formats.Format, c *cache.Cache, opt archive.Options) *root {
	known := New(c, &opt)
	return known.Root(archive.New(fsys, list, c, opt)).(*root)
}

// summariesOf returns those of a whole archive.
func summariesOf(t testing.TB, r *root) iter.Seq2[Summary, error] {
	return r.c.Summaries(t.Context(), r)
}

func newCache(t testing.TB) *cache.Cache {
	c := cache.New(64<<20, nil)
	t.Cleanup(c.Close)
	return c
}

// openLocal opens a directory until the test ends.
func openLocal(t testing.TB, dir string) *source.Local {
	t.Helper()
	fsys, err := source.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

// write makes a file; content that begins with -> makes a link.
func write(t testing.TB, dir, name, content string) {
	t.Helper()
	name = filepath.Join(dir, name)
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	if err == nil {
		if target, link := strings.CutPrefix(content, "->"); link {
			err = os.Symlink(target, name)
		} else {
			err = os.WriteFile(name, []byte(content), 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func appendTo(t *testing.T, name, more string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(more); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, root nodes.Dir, name string) (string, error) {
	t.Helper()
	ctx := context.Background()
	e, err := nodes.Lookup(ctx, root, name)
	if err != nil {
		return "", err
	}
	if e.File == nil {
		return "", errors.New("not a file")
	}
	b, err := nodes.ReadAll(ctx, e.File)
	return string(b), err
}

// entry is a member of a tar; content that begins with -> makes a link.
type entry struct{ name, content string }

func packTar(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Size: int64(len(e.content)), Mode: 0o644, ModTime: time.Unix(1e9, 0), Typeflag: tar.TypeReg}
		if target, ok := strings.CutPrefix(e.content, "->"); ok {
			h.Typeflag, h.Linkname, h.Size, e.content = tar.TypeSymlink, target, 0, ""
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
