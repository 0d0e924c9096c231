package compare

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"

	"recfs/nodes"
)

// recordings compares two recordings by their header, totals and players, and by the first tick
// that differs (docs/tree/README.md section 2).
func (c *comparison) recordings(ctx context.Context, a, b nodes.Dir) {
	x, y, ok := c.both(ctx, a, b, "header.json")
	if !ok {
		return
	}
	if x.member("format").str() != y.member("format").str() {
		c.err = fmt.Errorf("%w: one is %s, the other %s", ErrNothing, x.member("format").text, y.member("format").text)
		return
	}
	c.values("", x.without("source", "problems"), y.without("source", "problems"))
	if x, y, ok := c.both(ctx, a, b, "index.json"); ok {
		c.values("", x.without("format", "chunks"), y.without("format", "chunks"))
	}
	if x, y, ok := c.both(ctx, a, b, "players.json"); ok {
		c.values("", x, y)
	}
	c.ticks(ctx, a, b)
}

// both returns a document of each tree.
func (c *comparison) both(ctx context.Context, a, b nodes.Dir, name string) (x, y value, ok bool) {
	old, ok := c.text(ctx, a, name)
	now, also := c.text(ctx, b, name)
	if ok {
		x, ok = c.parsed(name, old)
	}
	if also {
		y, also = c.parsed(name, now)
	}
	return x, y, ok && also
}

// firstTick is the note of the first tick that differs.
const firstTick = "the first tick that differs"

// ticks looks for the first tick that differs, and tells how.
func (c *comparison) ticks(ctx context.Context, a, b nodes.Dir) {
	x, xErr := nodes.Child(ctx, a, "ticks")
	y, yErr := nodes.Child(ctx, b, "ticks")
	if xErr != nil || yErr != nil || x.Dir == nil || y.Dir == nil {
		return
	}
	n, xErr := x.Dir.Len(ctx)
	m, yErr := y.Dir.Len(ctx)
	if xErr != nil || yErr != nil {
		return // the index says why
	}
	for i := range min(n, m) {
		if c.ended || c.tick(ctx, x.Dir, y.Dir, i) {
			return
		}
	}
	kind, longer := Removed, x.Dir
	if m > n {
		kind, longer = Added, y.Dir
	}
	if n == m {
		return
	}
	e, err := longer.At(ctx, min(n, m))
	if err != nil {
		c.failed("ticks", err)
		return
	}
	c.add(Change{Kind: kind, Path: "ticks/" + e.Name, Note: firstTick})
}

// tick reports whether the i-th ticks are not the same, or cannot be told.
func (c *comparison) tick(ctx context.Context, x, y nodes.Dir, i int) bool {
	p, xErr := x.At(ctx, i)
	q, yErr := y.At(ctx, i)
	if err := cmp.Or(xErr, yErr); err != nil {
		c.failed("ticks", err)
		return true
	}
	name := "ticks/" + min(p.Name, q.Name)
	if p.Name != q.Name {
		kind := Removed // the earlier one is what the other recording does not have
		if q.Name < p.Name {
			kind = Added
		}
		c.add(Change{Kind: kind, Path: name, Note: firstTick})
		return true
	}
	old, oldErr := nodes.ReadAll(ctx, p.File)
	now, nowErr := nodes.ReadAll(ctx, q.File)
	switch {
	case oldErr != nil && nowErr != nil:
		return ctx.Err() != nil
	case oldErr != nil || nowErr != nil:
		c.failed(name, cmp.Or(oldErr, nowErr))
		return true
	case bytes.Equal(old, now):
		return false
	}
	c.add(Change{Kind: Changed, Path: name, Note: firstTick})
	c.documents(name+"/", old, now)
	return true
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
func (c *comparison) inFields(ctx context.Context, e nodes.Entry) (_ nodes.Entry, ok bool) {
	document, ok, err := nodes.DocumentOf(ctx, e.File)
	if err != nil {
		c.failed(e.Name, err)
	}
	if ok {
		e = document
	}
	return e, ok
}
