// Package compare tells how two trees of this program differ: two recordings or two of their
// documents. It reads what a tree shows (docs/tree) and knows no format: one whose recordings have
// parts names these.
package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	iofs "io/fs"
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

// Tiles are the differences of two tile layers, or of parts of them where they have other sizes.
type Tiles struct {
	Count int `json:"count"` // of tiles that differ; those outside the other layer only if they are not air
	// The smallest rectangle that holds them, in tiles.
	X        int       `json:"x"`
	Y        int       `json:"y"`
	Width    int       `json:"width"`
	Height   int       `json:"height"`
	Replaced []Replace `json:"replaced"` // the most frequent first, at most maxReplaced
}

// A Replace is how many tiles of one kind became one of another. A kind is a cell of the text grid
// (docs/tree/datafile.md section 8) without its blanks: "." is air.
type Replace struct {
	Old   string `json:"old"`
	New   string `json:"new"`
	Count int    `json:"count"`

	OldName string `json:"old_name,omitempty"` // what the kinds are called, if they have names
	NewName string `json:"new_name,omitempty"`
}

// Marks hears of each tile that differs: where, and what is there before and after, as in Replace.
type Marks func(layer string, x, y int, old, now string)

// A Side is one of the two that are compared.
type Side struct {
	nodes.Entry
	formats.Parts // of a recording that is compared by these
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

// text returns a file of a tree. ok is false where it is not there or cannot be read.
func (c *comparison) text(ctx context.Context, dir nodes.Dir, name string) (text []byte, ok bool) {
	text, err := nodes.ReadFile(ctx, dir, name)
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		c.failed(name, err)
	}
	return text, err == nil
}

// parsed returns what the file called name says. ok is false where that makes no sense.
func (c *comparison) parsed(name string, text []byte) (v value, ok bool) {
	v, err := parse(text)
	if err != nil {
		c.failed(name, err)
		return value{}, false
	}
	return v, true
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
