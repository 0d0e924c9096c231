package catalogue

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/wire"
	"recfs/formats/source"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

func TestMain(m *testing.M) {
	wire.Pack(nil) // the encoder has a channel, which must not be that of a bubble
	nodestest.Main(m)
}

// rec is a format for tests: "REC" and the bytes that its file body shows.
var rec = formatstest.Plain(formats.Format{
	Name:       "rec",
	Extensions: []string{".rec"},
	Match:      func(head []byte) bool { return bytes.HasPrefix(head, []byte("REC")) },
}, func(ctx context.Context, in formats.Input) error {
	head := make([]byte, 3)
	if _, err := in.ReadAt(ctx, head, 0); err != nil && err != io.EOF {
		return err
	}
	if string(head) != "REC" {
		return formats.Corrupt("rec", 0, "no magic")
	}
	return nil
}, func(in formats.Input, _ *cache.Cache) nodes.Dir {
	return nodes.List(nodes.Entry{Name: "body", File: nodes.Func(func(ctx context.Context) ([]byte, error) {
		size, err := in.Length(ctx)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(io.NewSectionReader(in.At(ctx), 3, size-3))
	})})
})

// newRoot returns an archive with its catalogue.
func newRoot(tree source.Tree, list []formats.Format, c *cache.Cache, opt archive.Options) *root {
	known := New(c, opt)
	return known.Root(archive.New(tree, list, c, opt)).(*root)
}

// summariesOf returns those of a whole archive.
func summariesOf(t testing.TB, r *root) iter.Seq2[Summary, error] {
	return r.c.Summaries(t.Context(), r)
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

// entry is a member of a tar.
type entry = formatstest.Member
