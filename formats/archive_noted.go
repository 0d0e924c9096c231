package formats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

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

// addProblem puts p into the list "problems" of a document, in front of the
// last ones if they have a higher offset.
func addProblem(doc []byte, p Problem) ([]byte, error) {
	list, start, end, err := findProblems(doc)
	if err != nil {
		return nil, err
	}
	at := len(list)
	for at > 0 && offsetOf(list[at-1]) > p.Offset {
		at--
	}
	item, err := encode(p)
	if err != nil {
		return nil, err
	}
	changed, err := encode(slices.Insert(list, at, item))
	if err != nil {
		return nil, err
	}
	b := slices.Concat(doc[:start], changed, doc[end:])
	return append(nodes.AppendIndented(nil, b), '\n'), nil
}

func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// offsetOf returns the offset of a problem, 0 if it has none.
func offsetOf(problem json.RawMessage) int64 {
	var p struct{ Offset int64 }
	if json.Unmarshal(problem, &p) != nil {
		return 0
	}
	return p.Offset
}

// findProblems returns the list "problems" of a document, and where it starts
// and ends.
func findProblems(doc []byte) (list []json.RawMessage, start, end int64, err error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	if _, err := dec.Token(); err != nil {
		return nil, 0, 0, err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, 0, 0, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, 0, 0, err
		}
		if key == "problems" {
			end := dec.InputOffset()
			err := json.Unmarshal(value, &list)
			return list, end - int64(len(value)), end, err
		}
	}
	return nil, 0, 0, errors.New("no list of problems")
}
