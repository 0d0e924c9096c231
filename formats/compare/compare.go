// Package compare tells how two trees of this program differ: two recordings or two of their
// documents. It reads what a tree shows (docs/tree) and knows no format: one whose recordings have
// parts names these.
package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path"
	"strings"

	"recfs/formats"
	"recfs/nodes"
)

// A Kind is what happened to something from the first tree to the second.
type Kind string

// The kinds of changes.
const (
	Added   Kind = "added"
	Removed Kind = "removed"
	Changed Kind = "changed"
)

// A Change is one difference. Old is missing where something was added, and New where it was
// removed; both are where the content of a file differs that is no JSON.
type Change struct {
	Kind  Kind            `json:"change"`
	Path  string          `json:"path"` // a file of the tree, or a key of a document as in "hero.attributes.str"
	Old   json.RawMessage `json:"old,omitempty"`
	New   json.RawMessage `json:"new,omitempty"`
	Note  string          `json:"note,omitempty"`  // what the values do not tell
	Tiles *Tiles          `json:"tiles,omitempty"` // of a tile layer
}

// ErrNothing says that two things have nothing in common that could be compared.
var ErrNothing = errors.New("these cannot be compared")

// An UnreadableError says that something of a tree cannot be read, so that nothing is known of it.
type UnreadableError struct {
	Path string
	Err  error
}

func (e *UnreadableError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns why.
func (e *UnreadableError) Unwrap() error { return e.Err }

// A Side is one of the two that are compared.
type Side struct {
	nodes.Entry
	formats.Parts // of a recording that is compared by these
}

// ReadParts reads the parts of a recording, if it tells of any.
func (s *Side) ReadParts(ctx context.Context, r formats.PartsReader) error {
	if r.Read == nil {
		return nil
	}
	e, err := nodes.Lookup(ctx, s.Dir, r.Document)
	if errors.Is(err, iofs.ErrNotExist) || err == nil && e.File == nil {
		return nil
	}
	var text []byte
	if err == nil {
		text, err = nodes.ReadAll(ctx, e.File)
	}
	if err == nil {
		s.Parts, err = r.Read(text)
	}
	if err != nil {
		return &UnreadableError{r.Document, err}
	}
	return nil
}

// Entries calls visit for each difference between two entries, which are of one kind. What cannot
// be read is left out, and told in the error at the end. Marks, if not nil, hears of each tile that
// differs.
func Entries(ctx context.Context, a, b Side, marks Marks, visit func(Change) error) error {
	c := &comparison{visit: visit, marks: marks}
	switch {
	case a.File != nil && b.File != nil:
		c.files(ctx, a.Entry, b.Entry)
	case a.Dir == nil || b.Dir == nil:
		return fmt.Errorf("%w: one is a directory", ErrNothing)
	case len(a.Lists) > 0 && len(a.Lists) == len(b.Lists):
		for i := range a.Lists {
			c.parts(ctx, a, b, a.Lists[i], b.Lists[i])
		}
	case c.isRecording(ctx, a.Dir) && c.isRecording(ctx, b.Dir):
		c.recordings(ctx, a.Dir, b.Dir)
	default:
		return fmt.Errorf("%w: give two recordings of one format, or two of their files", ErrNothing)
	}
	return c.err
}

// A comparison is one under way. An error of visit or of a context ends it, others are collected.
type comparison struct {
	visit func(Change) error
	marks Marks
	err   error
	told  bool // there was a difference
	ended bool
}

func (c *comparison) add(change Change) {
	if c.ended {
		return
	}
	c.told = true
	if err := c.visit(change); err != nil {
		c.err, c.ended = err, true
	}
}

// failed notes that the file called name cannot be read.
func (c *comparison) failed(name string, err error) {
	switch {
	case c.ended:
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		c.err, c.ended = err, true
	default:
		c.err = errors.Join(c.err, &UnreadableError{name, err})
	}
}

func (c *comparison) has(ctx context.Context, dir nodes.Dir, name string) bool {
	_, err := nodes.Child(ctx, dir, name)
	return err == nil
}

func (c *comparison) isRecording(ctx context.Context, dir nodes.Dir) bool {
	return c.has(ctx, dir, "header.json") && c.has(ctx, dir, "index.json")
}

// document returns a document of a tree. ok is false where it is not there or cannot be read.
func (c *comparison) document(ctx context.Context, dir nodes.Dir, name string) (v value, ok bool) {
	e, err := nodes.Lookup(ctx, dir, name)
	if errors.Is(err, iofs.ErrNotExist) {
		return v, false
	}
	if err == nil && e.File == nil {
		err = errors.New("not a file")
	}
	if err == nil {
		v, err = readDocument(ctx, e.File)
	}
	if err != nil {
		c.failed(name, err)
	}
	return v, err == nil
}

// files compares two files: JSON by its keys, or that of what has a document, and by their bytes
// what is neither or has the same document.
func (c *comparison) files(ctx context.Context, a, b nodes.Entry) {
	x, xOK := c.inFields(ctx, a)
	y, yOK := c.inFields(ctx, b)
	isJSON := path.Ext(x.Name) == ".json" && path.Ext(y.Name) == ".json"
	if isJSON {
		p, xErr := nodes.ReadAll(ctx, x.File)
		q, yErr := nodes.ReadAll(ctx, y.File)
		if err := errors.Join(xErr, yErr); err != nil {
			c.failed(a.Name, err)
			return
		}
		c.documents("", p, q)
	}
	if isJSON && !(xOK && yOK) || c.told || c.err != nil {
		return
	}
	at, err := firstDifference(ctx, a.File, b.File)
	switch {
	case err != nil:
		c.failed(a.Name, err)
	case at >= 0:
		c.add(Change{Kind: Changed, Note: fmt.Sprintf("the bytes differ from offset %d on", at)})
	}
}

// inFields returns the document of a file, ok if it has one, or the file.
func (c *comparison) inFields(ctx context.Context, e nodes.Entry) (document nodes.Entry, ok bool) {
	document, ok, err := nodes.DocumentOf(ctx, e.File)
	if err != nil {
		c.failed(e.Name, err)
	}
	if !ok {
		return e, false
	}
	return document, true
}

// firstDifference returns the offset from which two files differ, or -1.
func firstDifference(ctx context.Context, a, b nodes.File) (int64, error) {
	x, err := a.Open(ctx)
	if err != nil {
		return 0, err
	}
	defer nodes.CloseContent(x)
	y, err := b.Open(ctx)
	if err != nil {
		return 0, err
	}
	defer nodes.CloseContent(y)
	const step = 64 << 10
	var p, q [step]byte
	for at := int64(0); ; at += step {
		n, err := readAt(ctx, x, p[:], at)
		if err != nil {
			return 0, err
		}
		m, err := readAt(ctx, y, q[:], at)
		if err != nil {
			return 0, err
		}
		if !bytes.Equal(p[:n], q[:m]) {
			i := 0
			for i < min(n, m) && p[i] == q[i] {
				i++
			}
			return at + int64(i), nil
		}
		if n < step {
			return -1, nil
		}
	}
}

// readAt reads as much as there is, up to len(p).
func readAt(ctx context.Context, content nodes.Content, p []byte, at int64) (int, error) {
	n, err := content.ReadAt(ctx, p[:max(0, min(int64(len(p)), content.Size()-at))], at)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// join makes the path of a key of a document, or of an element of a list of it.
func join(name, key string) string {
	if name == "" || strings.HasPrefix(key, "[") || strings.HasSuffix(name, "/") {
		return name + key
	}
	return name + "." + key
}
