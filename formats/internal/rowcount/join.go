package rowcount

import (
	"recfs/formats/columnar"
)

// Where the chunks of a recording are counted side by side, each has a Counter of its own, a part,
// and a Line says beforehand how many rows stand before it.

// A Line is how many rows the parts have that were taken.
type Line struct {
	rows int // of the group that is open
}

// After returns a Line behind the rows of c.
func After(c *Counter) Line { return Line{c.Rows()} }

// Part returns a Counter for the next chunk, which has so many rows.
func (l *Line) Part(columns []columnar.Column, rows int) *Counter {
	if l.rows >= columnar.GroupRows {
		l.rows = 0
	}
	return l.More(columns, rows)
}

// More returns a Counter for so many further rows of the chunk that was taken last. Those of a
// chunk are less than MaxGroupRows-GroupRows.
func (l *Line) More(columns []columnar.Column, rows int) *Counter {
	c := New(columns)
	c.Reset(l.rows, nil)
	l.rows = (l.rows + rows) % columnar.MaxGroupRows
	return c
}

// Join adds the rows of a part. Parts are joined in the order in which they were taken, with
// EndChunk between those of different chunks.
func (c *Counter) Join(part *Counter) {
	for i := range part.groups {
		g := &part.groups[i]
		c.Batch.Add(g.Rows-c.Rows(), g.Columns)
		next := part.begin
		if i+1 < len(part.groups) {
			next = part.groups[i+1]
		}
		c.cut(next.Skip)
	}
	open := part.group()
	c.Batch.Add(open.Rows-c.Rows(), open.Columns)
	c.rows = part.rows
}
