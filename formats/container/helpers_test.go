package container_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/container"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// A tester is a test, or one case of a property.
type tester interface {
	Helper()
	Fatal(args ...any)
	Context() context.Context
	Cleanup(f func())
}

// A packed is a file to put into a container.
type packed struct{ name, content string }

func tarOf(t *testing.T, files ...packed) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range files {
		err := w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.content)), Mode: 0o644, ModTime: time.Unix(1e9, 0)})
		if err == nil {
			_, err = io.WriteString(w, f.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// list lists a container and returns its files with what they hold, or why they do not.
func list(t tester, k *container.Kind, b []byte) (map[string]string, []formats.Problem, error) {
	t.Helper()
	u, in := newUnpacker(t), formatstest.BytesInput("x", b, time.Unix(1e9, 0))
	m, err := k.List(t.Context(), in, container.Work{Limit: 1 << 30, Unpack: u})
	if k == container.Tar {
		sameUnmeasured(t, in, m, err)
	}
	if err != nil {
		return nil, nil, err
	}
	tree := &container.Tree{Kind: k, At: "x", Unpack: u, Load: loaded(m, in)}
	found := map[string]string{}
	readTree(t, tree, ".", found)
	return found, m.Problems, nil
}

// sameUnmeasured lists a tar again, whose size is not known before its end, and compares the lists.
func sameUnmeasured(t tester, in formats.Input, want *container.Members, wantErr error) {
	t.Helper()
	size := in.Size
	in.Size, in.Measure = formats.UnknownSize, func(context.Context) (int64, error) { return size, nil }
	m, err := container.Tar.List(t.Context(), in, container.Work{Limit: 1 << 30, Unpack: newUnpacker(t)})
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatal("the error", err, "and of known size", wantErr)
	}
	if err != nil {
		return
	}
	stamp := formats.Stamp{Changed: 1}
	if !slices.Equal(m.Problems, want.Problems) || !bytes.Equal(container.Encode(m, stamp), container.Encode(want, stamp)) {
		t.Fatal("another list: problems", m.Problems, "and of known size", want.Problems)
	}
}

func readTree(t tester, tree source.Tree, dir string, found map[string]string) {
	names, err := tree.List(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range names.Len() {
		name, typ := names.At(i)
		if dir != "." {
			name = dir + "/" + name
		}
		if typ.IsDir() {
			readTree(t, tree, name, found)
			continue
		}
		info, err := tree.Stat(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := tree.Open(t.Context(), name)
		if err != nil {
			found[name] = "error: " + err.Error()
			continue
		}
		if n, err := f.ReadAt(t.Context(), make([]byte, 1), 0); info.Size == 0 && (n > 0 || err != io.EOF) {
			found[name] = fmt.Sprintf("%d bytes, error: %v", n, err)
			continue
		}
		b, err := io.ReadAll(io.LimitReader(nodes.Reader(t.Context(), nodes.SectionContent(f, 0, info.Size)), 1<<20))
		if err != nil {
			found[name] = fmt.Sprintf("%d bytes, error: %v", len(b), err)
		} else {
			found[name] = string(b)
		}
	}
}

// loaded returns the Load of a tree with a list.
func loaded(m *container.Members, in formats.Input) func(context.Context) (*container.Members, formats.Input, error) {
	return func(context.Context) (*container.Members, formats.Input, error) { return m, in, nil }
}

func newUnpacker(t tester) *unpack.Unpacker {
	c := cache.New(8<<20, nil)
	t.Cleanup(c.Close)
	return unpack.New(nil, c, unpack.Options{})
}

// listOf lists a container.
func listOf(t *testing.T, k *container.Kind, b []byte) (*container.Members, error) {
	t.Helper()
	in := formatstest.BytesInput("x", b, time.Unix(1e9, 0))
	return k.List(t.Context(), in, container.Work{Limit: 1 << 30, Unpack: newUnpacker(t)})
}
