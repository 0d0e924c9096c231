package ledger

import (
	"context"
	"crypto/sha256"
	"slices"
	"sort"
	"strings"
)

// A List is records at one moment.
type List struct {
	blocks []*Block
	sum    [sha256.Size]byte
	lines  int64
	kinds  []string
}

func newList(blocks []*Block) *List {
	l := &List{blocks: slices.Clip(blocks)}
	h := sha256.New()
	for _, b := range blocks {
		l.lines += b.lines
		for _, s := range b.parts() {
			h.Write(s.sum[:]) //nolint:errcheck // a hash takes everything
		}
		for _, kind := range b.kinds {
			if i, ok := slices.BinarySearch(l.kinds, kind); !ok {
				l.kinds = slices.Insert(l.kinds, i, kind)
			}
		}
	}
	h.Sum(l.sum[:0])
	return l
}

// Sum tells lists apart whose records differ.
func (l *List) Sum() [sha256.Size]byte { return l.sum }

// Lines returns how many bytes the lines of all records have.
func (l *List) Lines() int64 { return l.lines }

// Kinds returns FORMAT/TABLE of all tables, sorted.
func (l *List) Kinds() []string { return l.kinds }

// Len returns how many records there are.
func (l *List) Len() (n int) {
	for _, b := range l.blocks {
		n += b.records
	}
	return n
}

// Same reports whether both have the same blocks.
func (l *List) Same(o *List) bool { return slices.Equal(l.blocks, o.blocks) }

// Cost is about how many bytes the list takes in memory.
func (l *List) Cost() (n int64) {
	for _, b := range l.blocks {
		n += b.cost()
	}
	return n
}

// Blocks returns how many blocks there are.
func (l *List) Blocks() int { return len(l.blocks) }

// Block returns a block, which stands for its records in other lists, too.
func (l *List) Block(i int) *Block { return l.blocks[i] }

// Page returns the records of a block.
func (l *List) Page(ctx context.Context, pages *Pages, block int) ([]Record, error) {
	return pages.Get(ctx, l.blocks[block])
}

// Rows returns the rows of the tables that the records of a block have, one after the other.
func (l *List) Rows(ctx context.Context, pages *Pages, block int) ([]byte, error) {
	return pages.rows.Get(ctx, &l.blocks[block].rows)
}

// A Cursor goes through a list. Copies go on by themselves.
type Cursor struct {
	list  *List
	pages *Pages
	block int
	i     int      // in the block
	page  []Record // of the block; nil: it was not read yet
}

// Cursor returns one that is at the first record.
func (l *List) Cursor(pages *Pages) Cursor { return Cursor{list: l, pages: pages} }

// Record returns the record where the cursor is, nil at the end.
func (c *Cursor) Record(ctx context.Context) (*Record, error) {
	for {
		switch {
		case c.block == len(c.list.blocks):
			return nil, nil
		case c.i >= c.list.blocks[c.block].records:
			c.goTo(c.block + 1)
			continue
		case c.page == nil:
			page, err := c.pages.Get(ctx, c.list.blocks[c.block])
			if err != nil {
				return nil, err
			}
			c.page = page
		}
		return &c.page[c.i], nil
	}
}

// Next goes to the next record.
func (c *Cursor) Next() { c.i++ }

func (c *Cursor) goTo(block int) { c.block, c.i, c.page = block, 0, nil }

// Seek goes to the first record whose path is not before the given one.
func (c *Cursor) Seek(ctx context.Context, path string) error {
	if c.page != nil && c.i < len(c.page) && c.page[c.i].Path == path {
		return nil
	}
	return c.seek(ctx, func(p string) bool { return Order(p, path) >= 0 })
}

// SeekBeyond goes to the first record after all below dir.
func (c *Cursor) SeekBeyond(ctx context.Context, dir string) error {
	return c.seek(ctx, func(p string) bool { return Order(p, dir) > 0 && !Within(p, dir) })
}

// seek goes to the first record of whose path reached says so, as it does of all after that.
func (c *Cursor) seek(ctx context.Context, reached func(path string) bool) error {
	blocks := c.list.blocks
	n := max(sort.Search(len(blocks), func(i int) bool { return reached(blocks[i].first) })-1, 0)
	if n != c.block || c.page == nil {
		c.goTo(n)
	}
	c.i = 0
	if r, err := c.Record(ctx); r == nil || err != nil {
		return err
	}
	c.i = sort.Search(len(c.page), func(i int) bool { return reached(c.page[i].Path) })
	return nil
}

// SkipTo goes on to the next block that has a table of a kind, if the one where the cursor is has
// none.
func (c *Cursor) SkipTo(kind string) {
	for c.block < len(c.list.blocks) && !c.list.blocks[c.block].holds(kind) {
		c.goTo(c.block + 1)
	}
}

// Find returns the record of a path, nil if there is none.
func (l *List) Find(ctx context.Context, pages *Pages, path string) (*Record, error) {
	c := l.Cursor(pages)
	if err := c.Seek(ctx, path); err != nil {
		return nil, err
	}
	if r, err := c.Record(ctx); r == nil || err != nil || r.Path == path {
		return r, err
	}
	return nil, nil
}

// Entries calls found with the name of each entry of dir, "" for the root, that is not before a
// name and has a table of a format or is a directory with one below, in the order of a walk, until
// it returns false. No more of such a directory is read than it takes to find one table.
func (l *List) Entries(ctx context.Context, pages *Pages, dir, from, format, table string, found func(name string, isDir bool) bool) error {
	c, start := l.Cursor(pages), ""
	if dir != "" {
		start = dir + "/"
	}
	if start+from != "" {
		if err := c.Seek(ctx, start+from); err != nil {
			return err
		}
	}
	for {
		c.SkipTo(format + "/" + table)
		r, err := c.Record(ctx)
		if r == nil || err != nil || !Within(r.Path, dir) {
			return err
		}
		if _, ok := r.Table(format, table); !ok {
			c.Next()
			continue
		}
		name, _, below := strings.Cut(r.Path[len(start):], "/")
		if !found(name, below) {
			return nil
		}
		if c.Next(); below {
			err = c.SeekBeyond(ctx, start+name)
		}
		if err != nil {
			return err
		}
	}
}
