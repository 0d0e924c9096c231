package main

import (
	"bytes"
	"context"
	"io"
	"path"

	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/nodes"
)

// A treeEncoder writes trees as JSON while they are walked: no tree has to fit into memory.
type treeEncoder struct {
	failures
	w     io.Writer
	depth int // how many levels; 0 is no limit
	drawn int // entries
}

// A treeLine is an element of what tree --json prints. A directory also has contents, the elements in
// it, unless it lies too deep to be looked into.
type treeLine struct {
	Name    string `json:"name"`
	NameHex string `json:"name_hex,omitempty"` // if the name is not UTF-8
	Type    string `json:"type"`               // file, directory or link
	Target  string `json:"target,omitempty"`   // of a link
}

// tree writes the tree of e, which is called name, as one line.
func (t *treeEncoder) tree(ctx context.Context, name string, e nodes.Entry) {
	top := e
	top.Name = name
	t.element(ctx, name, top, 1)
	io.WriteString(t.w, "\n") //nolint:errcheck // to a bufio.Writer, whose Flush tells
}

// element writes e, at is its path.
func (t *treeEncoder) element(ctx context.Context, at string, e nodes.Entry, level int) {
	var b bytes.Buffer
	line := treeLine{Name: e.Name, NameHex: formats.HexOf(e.Name), Type: typeName(e), Target: e.Link}
	if err := writeJSON(&b, line); err != nil {
		t.fail(at, err)
		return
	}
	t.drawn++
	b.Truncate(b.Len() - len("}\n"))
	t.w.Write(b.Bytes()) //nolint:errcheck // as in tree
	if e.Dir != nil && (t.depth == 0 || level <= t.depth) {
		io.WriteString(t.w, `,"contents":[`) //nolint:errcheck // as in tree
		t.contents(ctx, at, e, level)
		io.WriteString(t.w, "]") //nolint:errcheck // as in tree
	}
	io.WriteString(t.w, "}") //nolint:errcheck // as in tree
}

// contents writes what is in e, with commas between.
func (t *treeEncoder) contents(ctx context.Context, at string, e nodes.Entry, level int) {
	comma := ""
	for child, err := range entries(ctx, e) {
		below := path.Join(at, child.Name)
		if err == nil {
			io.WriteString(t.w, comma) //nolint:errcheck // as in tree
			t.element(ctx, below, child, level+1)
			comma = ","
			err = archives.Unread(ctx, child.File)
		}
		if err != nil {
			t.fail(below, err)
		}
	}
}
