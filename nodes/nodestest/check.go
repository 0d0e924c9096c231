// Package nodestest checks trees and compares them with golden files.
package nodestest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"recfs/nodes"
)

// Check walks all of a tree, reads every file, and fails t where the tree
// breaks a promise of package nodes: entries are named, sorted and unique and
// have exactly one of Dir, File and Link; Find agrees with At; sizes are
// exact; an unknown name is io/fs.ErrNotExist. It returns the errors of the
// directories and files that cannot be read, by path, for the caller to
// judge: in a tree of a sound recording there are none.
func Check(t testing.TB, root nodes.Dir) map[string]error {
	t.Helper()
	c := checker{t: t, ctx: t.Context(), unreadable: map[string]error{}}
	c.dir(".", root)
	return c.unreadable
}

type checker struct {
	t          testing.TB
	ctx        context.Context
	unreadable map[string]error
	text       bytes.Buffer // of the file that was read last
}

// maxResolve is how many times a directory may stand for another one.
const maxResolve = 8

func (c *checker) dir(name string, dir nodes.Dir) {
	c.t.Helper()
	if v, ok := dir.(nodes.Volatile); ok {
		snapshot, err := v.Snapshot(c.ctx)
		if err != nil {
			c.unreadable[name] = err
			return
		}
		dir = snapshot
	}
	for depth := 0; ; depth++ {
		r, ok := dir.(nodes.Resolver)
		if !ok {
			break
		}
		resolved, err := r.Resolve(c.ctx)
		if err != nil {
			c.unreadable[name] = err
			return
		}
		if dir = resolved; depth == maxResolve {
			c.t.Fatalf("%s resolves for ever", name)
		}
	}
	n, err := dir.Len(c.ctx)
	if err != nil {
		c.unreadable[name] = err
		return
	}
	if _, err := dir.Find(c.ctx, "no such\x01name"); !errors.Is(err, fs.ErrNotExist) {
		c.t.Errorf("%s: Find of an unknown name: %v, want io/fs.ErrNotExist", name, err)
	}
	for _, i := range []int{-1} {
		if _, err := dir.At(c.ctx, i); !errors.Is(err, fs.ErrNotExist) {
			c.t.Errorf("%s: At(%d): %v, want io/fs.ErrNotExist", name, i, err)
		}
	}
	last := ""
	for i := range n {
		e, err := dir.At(c.ctx, i)
		if err != nil {
			c.t.Errorf("%s: At(%d) of %d: %v", name, i, n, err)
			continue
		}
		if e.Name <= last {
			c.t.Errorf("%s: entry %d %q stands behind %q", name, i, e.Name, last)
		}
		last = e.Name
		if other, kind, err := nodes.AppendName(c.ctx, dir, nil, i); string(other) != e.Name || kind != e.Type() || err != nil {
			c.t.Errorf("%s: AppendName(%d) = %q, %v, %v, At has %q", name, i, other, kind, err, e.Name)
		}
		c.entry(path.Join(name, e.Name), e)
		c.find(name, dir, n, i, e)
	}
}

// find fails the test unless entry i of n, as it is listed, opens under its name.
func (c *checker) find(name string, dir nodes.Dir, n, i int, e nodes.Entry) {
	c.t.Helper()
	j, err := dir.Find(c.ctx, e.Name)
	if err == nil && j >= n { // it opens without the listing
		var other nodes.Entry
		if other, err = dir.At(c.ctx, j); other.Name == e.Name && other.Type() == e.Type() && other.Attr == e.Attr {
			j = i
		}
	}
	if j != i || err != nil {
		c.t.Errorf("%s: Find(%q) = %d, %v, want %d", name, e.Name, j, err, i)
	}
}

func (c *checker) entry(name string, e nodes.Entry) {
	c.t.Helper()
	if e.Name == "" || e.Name == "." || e.Name == ".." || strings.ContainsAny(e.Name, "/\x00") || len(e.Name) > 255 {
		c.t.Errorf("%s: %q is no file name", name, e.Name)
	}
	kinds := 0
	if e.Dir != nil {
		kinds++
		c.dir(name, e.Dir)
	}
	if e.File != nil {
		kinds++
		if _, err := c.file(name, e.File); err != nil {
			c.unreadable[name] = err
		}
	}
	if e.Link != "" {
		kinds++
	}
	if len(e.Link) > nodes.MaxLink || strings.Contains(e.Link, "\x00") {
		c.t.Errorf("%s: %.100q is no target of a link", name, e.Link)
	}
	if e.Rights.Mode != e.Rights.Mode.Perm() {
		c.t.Errorf("%s: the mode %v is more than permission bits", name, e.Rights.Mode)
	}
	if kinds != 1 {
		c.t.Errorf("%s: %d of Dir, File and Link are set, want 1", name, kinds)
	}
}

// file reads a file whole and holds its size against what is there. What it returns holds until the
// next call.
func (c *checker) file(name string, f nodes.File) ([]byte, error) {
	c.t.Helper()
	size, err := f.Size(nodes.Listing(c.ctx))
	if err != nil {
		return nil, err
	}
	content, err := f.Open(c.ctx)
	if err != nil {
		return nil, err
	}
	defer nodes.CloseContent(content)
	if got := content.Size(); got != size {
		c.t.Errorf("%s: the content has %d bytes, Size said %d", name, got, size)
	}
	c.text.Reset()
	if _, err := c.text.ReadFrom(io.NewSectionReader(nodes.At(c.ctx, content), 0, size+1)); err != nil {
		return nil, err
	}
	if int64(c.text.Len()) != size {
		c.t.Errorf("%s: %d bytes read, Size said %d", name, c.text.Len(), size)
	}
	return c.text.Bytes(), nil
}

// isText tells whether a txtar file can hold b as it is.
func isText(b []byte) bool {
	if len(b) > 0 && b[len(b)-1] != '\n' {
		return false
	}
	for _, r := range string(b) {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return false
		}
	}
	return utf8.Valid(b) && !strings.HasPrefix(string(b), "-- ") && !strings.Contains(string(b), "\n-- ")
}

// Read returns the content of the file at a path.
func Read(t testing.TB, root nodes.Dir, name string) string {
	t.Helper()
	e, err := nodes.Lookup(t.Context(), root, name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := nodes.ReadAll(t.Context(), e.File)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(b)
}

// Files returns the content of all files of a tree by their paths.
func Files(t testing.TB, root nodes.Dir) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := nodes.Walk(t.Context(), root, func(name string, e nodes.Entry, err error) error {
		if err != nil || e.File == nil {
			return err
		}
		b, err := nodes.ReadAll(t.Context(), e.File)
		files[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
