package compare

import (
	"context"
	"errors"
	"fmt"
	"path"

	"recfs/nodes"
)

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
		a.Dir, b.Dir = keep(a.Dir), keep(b.Dir)
		for i := range a.Lists {
			for old, now := range pairs(a.Lists[i], b.Lists[i]) {
				c.pair(ctx, a.Dir, b.Dir, old, now)
			}
		}
	case c.isRecording(ctx, a.Dir) && c.isRecording(ctx, b.Dir):
		c.recordings(ctx, a.Dir, b.Dir)
	default:
		return fmt.Errorf("%w: give two recordings of one format, or two of their files", ErrNothing)
	}
	return c.err
}

func (c *comparison) isRecording(ctx context.Context, dir nodes.Dir) bool {
	return c.has(ctx, dir, "header.json") && c.has(ctx, dir, "index.json")
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
