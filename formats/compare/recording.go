package compare

import (
	"bytes"
	"context"
	"fmt"

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
	if c.has(ctx, a, "players.json") && c.has(ctx, b, "players.json") {
		if x, y, ok := c.both(ctx, a, b, "players.json"); ok {
			c.values("", x, y)
		}
	}
	c.ticks(ctx, a, b)
}

// both returns a document of each tree.
func (c *comparison) both(ctx context.Context, a, b nodes.Dir, name string) (x, y value, ok bool) {
	x, xOK := c.document(ctx, a, name)
	y, yOK := c.document(ctx, b, name)
	return x, y, xOK && yOK
}

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
	for i := range max(n, m) {
		if c.ended || i >= n || i >= m {
			if i < n {
				c.tickAlone(ctx, Removed, x.Dir, i)
			} else if i < m {
				c.tickAlone(ctx, Added, y.Dir, i)
			}
			return
		}
		if c.tick(ctx, x.Dir, y.Dir, i) {
			return
		}
	}
}

// tickAlone tells of the first tick that only one recording has.
func (c *comparison) tickAlone(ctx context.Context, kind Kind, ticks nodes.Dir, i int) {
	e, err := ticks.At(ctx, i)
	if err != nil {
		c.failed("ticks", err)
		return
	}
	c.add(Change{Kind: kind, Path: "ticks/" + e.Name, Note: "the first tick that differs"})
}

// tick reports whether the i-th ticks are not the same, or cannot be told.
func (c *comparison) tick(ctx context.Context, x, y nodes.Dir, i int) bool {
	p, err := x.At(ctx, i)
	if err != nil {
		c.failed("ticks", err)
		return true
	}
	q, err := y.At(ctx, i)
	if err != nil {
		c.failed("ticks", err)
		return true
	}
	name := "ticks/" + min(p.Name, q.Name)
	if p.Name != q.Name {
		kind := Removed // the earlier one is what the other recording does not have
		if q.Name < p.Name {
			kind = Added
		}
		c.add(Change{Kind: kind, Path: name, Note: "the first tick that differs"})
		return true
	}
	old, oldErr := nodes.ReadAll(ctx, p.File)
	now, nowErr := nodes.ReadAll(ctx, q.File)
	switch {
	case oldErr != nil && nowErr != nil:
		return ctx.Err() != nil
	case oldErr != nil:
		c.failed(name, oldErr)
		return true
	case nowErr != nil:
		c.failed(name, nowErr)
		return true
	case bytes.Equal(old, now):
		return false
	}
	c.add(Change{Kind: Changed, Path: name, Note: "the first tick that differs"})
	c.documents(name+"/", old, now)
	return true
}
