package shared

import (
	"bytes"
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recfs/cache"
)

// name is one under which the disk cache keeps an index.
const name = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/teehistorian"

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// What one machine puts there another one has, and what is no part of a recording is not shared.
func TestIndex(t *testing.T) {
	dir := t.TempDir()
	mine := New(Folder(dir), "", quiet())
	for _, name := range []string{name, "note of an object of 5 bytes, 1234"} {
		if err := mine.Put(t.Context(), name, []byte("kept of "+name)); err != nil {
			t.Fatal(err)
		}
		yours := New(Folder(dir), "", quiet())
		if b, ok := yours.Load(t.Context(), name); !ok || string(b) != "kept of "+name {
			t.Errorf("%s is %q, %t", name, b, ok)
		}
	}
	for _, name := range []string{"note of /srv/a.teehistorian", "catalogue of /srv", "0123/teehistorian", strings.ToUpper(name[:64]) + "x/y", ""} {
		if keyOf(name) != "" {
			t.Errorf("%q is shared", name)
		}
	}
	if err := mine.Put(t.Context(), name, []byte("other")); err != nil {
		t.Fatal(err)
	}
	if b, _ := New(Folder(dir), "", quiet()).Load(t.Context(), name); string(b) != "kept of "+name {
		t.Errorf("it was changed to %q", b)
	}
}

// What is damaged, cut, or of something else is not there.
func TestStrange(t *testing.T) {
	good := sealed(name, []byte("index"))
	for what, b := range map[string][]byte{
		"nothing": {}, "cut": good[:len(good)-1], "short": good[:3], "longer": append(bytes.Clone(good), 0),
		"foreign": sealed(name+"2", []byte("index")), "flipped": append(bytes.Clone(good[:len(good)-1]), 'y'),
	} {
		dir := t.TempDir()
		at := filepath.Join(dir, filepath.FromSlash(keyOf(name)))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, b, 0o666)); err != nil {
			t.Fatal(err)
		}
		if b, ok := New(Folder(dir), "", quiet()).Load(t.Context(), name); ok {
			t.Errorf("%s: %q", what, b)
		}
	}
}

// A counted store counts what it is asked for.
type counted struct {
	n   int
	err error
}

func (s *counted) Fetch(context.Context, string, int64) ([]byte, error) {
	s.n++
	return nil, s.err
}

func (s *counted) Names(context.Context, string) ([]string, error) { return nil, s.err }

func (s *counted) Open(context.Context, string) (cache.BehindFile, error) { return nil, s.err }

func (s *counted) Store(context.Context, string, io.ReaderAt, int64, bool) error { return s.err }

// What is not there is asked for once, and nobody is asked where nobody answers.
func TestMissing(t *testing.T) {
	other := strings.Replace(name, "0", "1", 1)
	for _, c := range []struct {
		err  error
		want int
	}{{iofs.ErrNotExist, 2}, {errors.New("no answer"), 1}} {
		s := &counted{err: c.err}
		x := New(s, "", quiet())
		for _, name := range []string{name, name, other, other} {
			if _, ok := x.Load(t.Context(), name); ok {
				t.Error("something is there")
			}
		}
		if s.n != c.want {
			t.Errorf("%v: it was asked %d times, not %d", c.err, s.n, c.want)
		}
	}
}

// FuzzOpened holds what is found in an index to the sum that it begins with.
func FuzzOpened(f *testing.F) {
	f.Add("a", []byte("b"))
	f.Add(name, sealed(name, []byte("index")))
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		data, ok := opened(name, b)
		if ok && !bytes.Equal(sealed(name, data), b) {
			t.Errorf("%q is not what was put there", b)
		}
		if data, ok := opened(name, sealed(name, b)); !ok || !bytes.Equal(data, b) {
			t.Errorf("%q came back as %q", b, data)
		}
	})
}
