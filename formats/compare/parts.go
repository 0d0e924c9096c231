package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	iofs "io/fs"
	"iter"
	"slices"

	"recfs/formats"
	"recfs/nodes"
)

// A part is one of a recording with that tree.
type part struct {
	dir nodes.Dir
	*formats.Part
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
	if err == nil {
		s.Parts, err = readParts(ctx, e.File, r)
	}
	if err != nil {
		return &UnreadableError{r.Document, err}
	}
	return nil
}

// readParts reads the parts that a document tells of.
func readParts(ctx context.Context, document nodes.File, r formats.PartsReader) (p formats.Parts, err error) {
	size, err := document.Size(ctx)
	if err != nil {
		return p, err
	}
	const decoding = 3 // bytes for each of the text, at most, beside the parts
	held, err := formats.Charge(ctx, decoding*size)
	if err != nil {
		return p, err
	}
	defer held.Free()
	text, err := nodes.ReadAll(ctx, document)
	if err != nil {
		return p, err
	}
	return r.Read(text)
}

// pairs returns the parts of two lists that have one name, nil for what only one has: in the order
// of x, and then those that only y has.
func pairs(x, y []formats.Part) iter.Seq2[*formats.Part, *formats.Part] {
	return func(yield func(old, now *formats.Part) bool) {
		of := make(map[string]*formats.Part, len(y))
		for i := range y {
			of[y[i].Name] = &y[i]
		}
		for i := range x {
			if !yield(&x[i], of[x[i].Name]) {
				return
			}
			delete(of, x[i].Name)
		}
		for i := range y {
			if of[y[i].Name] != nil && !yield(nil, &y[i]) {
				return
			}
		}
	}
}

// pair tells how a part differs from another; one may be nil.
func (c *comparison) pair(ctx context.Context, a, b nodes.Dir, old, now *formats.Part) {
	switch {
	case now == nil:
		c.add(Change{Kind: Removed, Path: old.Name, Old: c.said(old.Name, old.Fields).text})
	case old == nil:
		c.add(Change{Kind: Added, Path: now.Name, New: c.said(now.Name, now.Fields).text})
	default:
		c.part(ctx, old.Name, &part{a, old}, &part{b, now})
	}
}

// said is what a text says that the tree told of a part.
func (c *comparison) said(name string, text json.RawMessage) (v value) {
	if len(text) > 0 {
		v, _ = c.parsed(name, text)
	}
	return v
}

// fields returns what is compared of what the tree tells of a part.
func (c *comparison) fields(p *part) value {
	v := c.said(p.Name, p.Fields)
	if v.shape != '{' {
		return v
	}
	v = v.without(p.Ignored...)
	for key, name := range p.Names {
		if at := slices.Index(v.keys, key); at >= 0 {
			v.items[at] = c.said(p.Name, name)
		}
	}
	return v
}

// part tells how two parts differ.
func (c *comparison) part(ctx context.Context, name string, a, b *part) {
	if a.Document == "" || a.Keys != nil {
		c.values(name, c.fields(a), c.fields(b))
	}
	if a.Content != "" && b.Content != "" {
		c.contents(ctx, name, a, b)
	}
	if a.Document != "" && b.Document != "" {
		c.details(ctx, name, a, b)
	}
	if a.Grid != nil && b.Grid != nil {
		c.tiles(ctx, name, a, b)
	}
}

// contents compares the bytes of two parts.
func (c *comparison) contents(ctx context.Context, name string, a, b *part) {
	x, xErr := nodes.Lookup(ctx, a.dir, a.Content)
	y, yErr := nodes.Lookup(ctx, b.dir, b.Content)
	if xErr != nil || yErr != nil || x.File == nil || y.File == nil {
		return
	}
	at, err := firstDifference(ctx, x.File, y.File)
	switch {
	case err != nil:
		c.failed(name, err)
	case at >= 0:
		c.add(Change{Kind: Changed, Path: name, Note: "the content differs"})
	}
}

// details compares the documents of two parts.
func (c *comparison) details(ctx context.Context, name string, a, b *part) {
	x, xOK := c.text(ctx, a.dir, a.Document)
	y, yOK := c.text(ctx, b.dir, b.Document)
	if !xOK || !yOK || bytes.Equal(x, y) {
		return
	}
	v, vOK := c.parsed(a.Document, x)
	w, wOK := c.parsed(b.Document, y)
	switch {
	case !vOK || !wOK:
	case a.Keys == nil || v.shape != '{' || w.shape != '{':
		c.values(name, v.without(a.Ignored...), w.without(b.Ignored...))
	default:
		for _, key := range a.Keys {
			c.values(join(name, key), v.member(key), w.member(key))
		}
	}
}
