// Package rowcount counts the rows of a table in the pass that makes an index, and keeps the counts
// in the saved index: what the size and the footer of the table follow from (docs/tree/tables.md
// section 1).
package rowcount

import (
	"slices"

	"recfs/formats/columnar"
)

// A Counter counts the rows that are put into its Batch, and forms groups of them.
type Counter struct {
	*columnar.Batch
	groups []columnar.Group // that have all their rows
	begin  columnar.Group   // where the next one begins
	chunk  int              // of the rows that come now
	rows   int              // of that chunk so far
}

// New returns a Counter of no rows.
func New(columns []columnar.Column) *Counter { return &Counter{Batch: columnar.NewCounter(columns)} }

// EndRow must be called after each row: no group has more than columnar.MaxGroupRows.
func (c *Counter) EndRow() { c.added(1) }

// EndText ends a group whose texts have a number of bytes.
func (c *Counter) EndText(most int64) {
	n := int64(0)
	for i := range c.Columns {
		n += c.Columns[i].Counts.Bytes
	}
	if n >= most {
		c.cut(c.rows)
	}
}

// Room returns how many rows the open group can still take.
func (c *Counter) Room() int { return columnar.MaxGroupRows - c.Rows() }

// Add counts rows that were counted elsewhere, up to Room of them.
func (c *Counter) Add(rows int, counts []columnar.Counts) {
	c.Batch.Add(rows, counts)
	c.added(rows)
}

// added says that the Batch has so many rows more.
func (c *Counter) added(rows int) {
	if c.rows += rows; c.Rows() == columnar.MaxGroupRows {
		c.cut(c.rows)
	}
}

// EndChunk ends a chunk of the format, and with it a group that has rows enough.
func (c *Counter) EndChunk() {
	c.chunk, c.rows = c.chunk+1, 0
	if c.Rows() == 0 || c.Rows() >= columnar.GroupRows {
		c.cut(0)
	}
}

// cut ends a group, if there are rows. The next one begins after skip rows of the chunk.
func (c *Counter) cut(skip int) {
	if c.Rows() > 0 {
		c.groups = append(c.groups, c.group())
	}
	c.begin = columnar.Group{Chunk: c.chunk, Skip: skip}
	c.Reset(0, nil)
}

// group returns the group of the rows since the last cut.
func (c *Counter) group() columnar.Group {
	g := c.begin
	g.Rows, g.Columns = c.Rows(), c.Counts()
	return g
}

// Chunks returns how many chunks were begun. The first one begins by itself.
func (c *Counter) Chunks() int { return c.chunk + 1 }

// Groups returns the groups of all rows so far. All but the last one stay what they are.
func (c *Counter) Groups() []columnar.Group {
	groups := slices.Clip(c.groups)
	if c.Rows() > 0 {
		groups = append(groups, c.group())
	}
	return groups
}

// Clone returns a Counter that goes on from where c is, without c.
func (c *Counter) Clone() *Counter {
	d := *c
	d.groups = slices.Clip(c.groups)
	d.Batch = c.Batch.Clone()
	return &d
}

// Cost returns about how many bytes a Counter keeps alive.
func (c *Counter) Cost() int64 {
	const column = 64 // of a group
	return int64((len(c.groups) + 4) * (len(c.Columns) + 1) * column)
}
