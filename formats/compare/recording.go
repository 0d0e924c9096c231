package compare

import (
	"bytes"
	"fmt"

	"recfs/nodes"
)

// recordings compares two recordings by their header, totals and players, and by the first tick that
// differs (docs/tree/README.md section 2).
func (c *comparison) recordings(a, b nodes.Dir) {
	x, y, ok := c.both(a, b, "header.json")
	if !ok {
		return
	}
	if x.member("format").str() != y.member("format").str() {
		c.err = fmt.Errorf("%w: one is %s, the other %s", ErrNothing, x.member("format").text, y.member("format").text)
		return
	}
	c.values("", x.without("source", "problems"), y.without("source", "problems"))
	if x, y, ok := c.both(a, b, "index.json"); ok {
		c.values("", x.without("format", "chunks"), y.without("format", "chunks"))
	}
	if c.has(a, "players.json") && c.has(b, "players.json") {
		if x, y, ok := c.both(a, b, "players.json"); ok {
			c.values("", x, y)
		}
	}
	c.ticks(a, b)
}

// both returns a document of each tree.
func (c *comparison) both(a, b nodes.Dir, name string) (x, y value, ok bool) {
	x, xOK := c.document(a, name)
	y, yOK := c.document(b, name)
	return x, y, xOK && yOK
}

// ticks looks for the first tick that differs, and tells how.
func (c *comparison) ticks(a, b nodes.Dir) {
	x, xErr := nodes.Child(c.ctx, a, "ticks")
	y, yErr := nodes.Child(c.ctx, b, "ticks")
	if xErr != nil || yErr != nil || x.Dir == nil || y.Dir == nil {
		return
	}
	n, xErr := x.Dir.Len(c.ctx)
	m, yErr := y.Dir.Len(c.ctx)
	if xErr != nil || yErr != nil {
		return // the index says why
	}
	for i := range max(n, m) {
		if c.ended || i >= n || i >= m {
			if i < n {
				c.tickAlone(Removed, x.Dir, i)
			} else if i < m {
				c.tickAlone(Added, y.Dir, i)
			}
			return
		}
		if c.tick(x.Dir, y.Dir, i) {
			return
		}
	}
}

// tickAlone tells of the first tick that only one recording has.
func (c *comparison) tickAlone(kind Kind, ticks nodes.Dir, i int) {
	e, err := ticks.At(c.ctx, i)
	if err != nil {
		c.failed("ticks", err)
		return
	}
	c.add(Change{Kind: kind, Path: "ticks/" + e.Name, Note: "the first tick that differs"})
}

// tick reports whether the i-th ticks are not the same, or cannot be told.
func (c *comparison) tick(x, y nodes.Dir, i int) bool {
	p, err := x.At(c.ctx, i)
	if err != nil {
		c.failed("ticks", err)
		return true
	}
	q, err := y.At(c.ctx, i)
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
	old, oldErr := nodes.ReadAll(c.ctx, p.File)
	now, nowErr := nodes.ReadAll(c.ctx, q.File)
	switch {
	case oldErr != nil && nowErr != nil:
		return c.ctx.Err() != nil
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
