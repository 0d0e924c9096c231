package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"recfs/formats"
	"recfs/nodes"
)

// A damagedTree is the tree of a recording under outer compression. Its index.json
// has one more problem and is not complete if the compressed stream is
// damaged, of which the format, which sees only what came out before, knows
// nothing.
type damagedTree struct {
	nodes.Dir
	damage func(context.Context) (*formats.Problem, error)
}

func (n *damagedTree) At(ctx context.Context, i int) (nodes.Entry, error) {
	e, err := n.Dir.At(ctx, i)
	if err == nil && e.Name == "index.json" && e.File != nil {
		e.File = damagedIndex{e.File, n}
	}
	return e, err
}

// A damagedIndex is the index.json of a damagedTree.
type damagedIndex struct {
	nodes.File
	n *damagedTree
}

func (f damagedIndex) Size(ctx context.Context) (int64, error) {
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

func (f damagedIndex) Open(ctx context.Context) (nodes.Content, error) {
	c, err := f.File.Open(ctx)
	if err != nil {
		return nil, err
	}
	d, err := f.n.damage(ctx)
	if d == nil && err == nil {
		return c, nil
	}
	defer nodes.CloseContent(c)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(nodes.Reader(ctx, c))
	if err != nil {
		return nil, err
	}
	b, err = addDamage(b, *d)
	return nodes.BytesContent(b), err
}

// addDamage puts p into the list "problems" of an index.json, before the last
// ones if they have a higher offset, and makes "complete" false.
func addDamage(doc []byte, p formats.Problem) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var b []byte
	copied, listed := int64(0), false
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		end := dec.InputOffset()
		start := end - int64(len(value))
		switch key {
		case "complete":
			value = json.RawMessage("false")
		case "problems":
			listed = true
			if value, err = insertProblem(value, p); err != nil {
				return nil, err
			}
		default:
			continue
		}
		b = append(append(b, doc[copied:start]...), value...)
		copied = end
	}
	if !listed {
		return nil, errors.New("no list of problems")
	}
	return append(nodes.AppendIndented(nil, append(b, doc[copied:]...)), '\n'), nil
}

// insertProblem puts p into a list of problems.
func insertProblem(problems json.RawMessage, p formats.Problem) (json.RawMessage, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(problems, &list); err != nil {
		return nil, err
	}
	item, err := encode(p)
	if err != nil {
		return nil, err
	}
	at := len(list)
	for at > 0 && offsetOf(list[at-1]) > p.Offset {
		at--
	}
	return encode(slices.Insert(list, at, item))
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
