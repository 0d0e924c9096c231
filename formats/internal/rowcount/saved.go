package rowcount

import (
	"math"

	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
)

// Code writes what was counted, so that a Counter can go on from there, or reads it. If what is
// read cannot be a Counter, c has failed.
//
//	| chunk | rows of it | count | group … | group that is open |
func Code(c indexfile.Codec, rows **Counter, columns []columnar.Column) {
	var groups []columnar.Group
	var open, last columnar.Group
	if c.R != nil {
		*rows = New(columns)
	} else { // what is written may be of other columns
		groups, open, columns = (*rows).groups, (*rows).group(), (*rows).columns()
	}
	n := *rows
	follows := func(g *columnar.Group) bool {
		return g.Chunk > last.Chunk || g.Chunk == last.Chunk && g.Skip >= last.Skip
	}
	indexfile.Uint(c, &n.chunk, math.MaxInt32)
	indexfile.Uint(c, &n.rows, math.MaxInt32)
	indexfile.List(c, &groups, minGroup, func(g *columnar.Group) {
		if codeGroup(c, columns, g); c.R != nil && (g.Rows == 0 || !follows(g)) {
			c.R.Fail("a group of %d rows from row %d of chunk %d", g.Rows, g.Skip, g.Chunk)
		}
		last = *g
	})
	codeGroup(c, columns, &open)
	switch {
	case c.W != nil:
		return
	case !follows(&open) || open.Chunk > n.chunk:
		c.R.Fail("a last group from row %d of chunk %d", open.Skip, open.Chunk)
	}
	if c.R.Err() != nil {
		*rows = New(columns)
		return
	}
	n.groups, n.begin = groups, columnar.Group{Chunk: open.Chunk, Skip: open.Skip}
	n.Reset(open.Rows, open.Columns)
}

// columns returns the columns of the rows.
func (c *Counter) columns() []columnar.Column {
	columns := make([]columnar.Column, len(c.Columns))
	for i := range columns {
		columns[i] = c.Columns[i].Column
	}
	return columns
}

// minGroup is the least bytes that a group takes.
const minGroup = 3

// codeGroup writes or reads a group, with what can be told of the type of each column:
//
//	| rows | chunk | skip | column … |
//
// column: | nulls, if nullable | bytes, of text | of numbers, optional: min zigzag, max zigzag |
func codeGroup(c indexfile.Codec, columns []columnar.Column, g *columnar.Group) {
	indexfile.Uint(c, &g.Rows, columnar.MaxGroupRows)
	indexfile.Uint(c, &g.Chunk, math.MaxInt32)
	indexfile.Uint(c, &g.Skip, math.MaxInt32)
	if c.R != nil {
		g.Columns = make([]columnar.Counts, len(columns))
	}
	for i := range g.Columns {
		of, n := &columns[i], &g.Columns[i]
		if of.Nullable {
			indexfile.Uint(c, &n.Nulls, int64(g.Rows))
		}
		switch {
		case isText(of):
			indexfile.Uint(c, &n.Bytes, math.MaxInt32)
		case isNumber(of):
			if c.Values(&n.Bounded); n.Bounded {
				c.Int(&n.Min)
				c.Int(&n.Max)
			}
		}
	}
}

func isText(c *columnar.Column) bool { return c.Type == columnar.Text && c.Words == nil }

func isNumber(c *columnar.Column) bool {
	return c.Type != columnar.Text && c.Type != columnar.Texts && c.Type != columnar.Bool
}
