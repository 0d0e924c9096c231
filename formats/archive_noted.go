package formats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"recfs/nodes"
)

// A noted is the tree of a recording under outer compression. Its index.json
// has one more problem if the compressed stream is damaged, of which the
// format, which sees only what came out before, knows nothing.
type noted struct {
	nodes.Dir
	damage damageFunc
}

func (n *noted) At(ctx context.Context, i int) (nodes.Entry, error) {
	e, err := n.Dir.At(ctx, i)
	if err == nil && e.Name == "index.json" && e.File != nil {
		e.File = notedFile{e.File, n}
	}
	return e, err
}

// A notedFile is the index.json of a noted.
type notedFile struct {
	nodes.File
	n *noted
}

func (f notedFile) Size(ctx context.Context) (int64, error) {
	n, err := f.File.Size(ctx)
	if err != nil {
		return 0, err
	}
	if d, err := f.n.damage(ctx); d == nil {
		return n, err
	}
	c, err := f.Open(ctx)
	if err != nil {
		return 0, err
	}
	return c.Size(), nil
}

func (f notedFile) Open(ctx context.Context) (nodes.Content, error) {
	c, err := f.File.Open(ctx)
	if err != nil {
		return nil, err
	}
	d, err := f.n.damage(ctx)
	if d == nil && err == nil {
		return c, nil
	}
	if closer, ok := c.(io.Closer); ok {
		defer closer.Close()
	}
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.NewSectionReader(c, 0, c.Size()))
	if err != nil {
		return nil, err
	}
	b, err = addProblem(b, Problem{Code: "bad_compression", Offset: d.size, Message: d.Error()})
	return bytes.NewReader(b), err
}

// addProblem appends p to the list "problems" of a document.
func addProblem(doc []byte, p Problem) ([]byte, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, doc); err != nil {
		return nil, err
	}
	end, empty, err := endOfProblems(b.Bytes())
	if err != nil {
		return nil, err
	}
	var item bytes.Buffer
	enc := json.NewEncoder(&item)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		return nil, err
	}
	compact := append([]byte{}, b.Bytes()[:end]...)
	if !empty {
		compact = append(compact, ',')
	}
	compact = append(append(compact, bytes.TrimSpace(item.Bytes())...), b.Bytes()[end:]...)
	return append(nodes.AppendIndented(nil, compact), '\n'), nil
}

// endOfProblems returns where the list "problems" of a compact document ends.
func endOfProblems(doc []byte) (end int64, empty bool, err error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	if _, err := dec.Token(); err != nil {
		return 0, false, err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return 0, false, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return 0, false, err
		}
		if key == "problems" && len(value) >= 2 && value[0] == '[' {
			return dec.InputOffset() - 1, len(value) == 2, nil
		}
	}
	return 0, false, errors.New("no list of problems")
}
