package rowcount

import (
	"math"

	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
)

// Code writes what was counted, or reads it.
func Code(c indexfile.Codec, rows **Counter, columns []columnar.Column) {
	if c.W != nil {
		(*rows).Write(c.W)
	} else {
		*rows = Read(c.R, columns)
	}
}

// Write writes what was counted, so that a Counter can go on from there.
//
//	| chunk | rows of it | count | group … | group that is open |
func (c *Counter) Write(w *indexfile.Writer) {
	w.Count(c.chunk)
	w.Count(c.rows)
	w.Count(len(c.groups))
	columns := make([]columnar.Column, len(c.Columns))
	for i := range columns {
		columns[i] = c.Columns[i].Column
	}
	for i := range c.groups {
		writeGroup(w, columns, &c.groups[i])
	}
	g := c.group()
	writeGroup(w, columns, &g)
}

// Read returns a Counter as it was written. If it cannot be one, r has failed.
func Read(r *indexfile.Reader, columns []columnar.Column) *Counter {
	c := New(columns)
	c.chunk, c.rows = int(r.Uint(math.MaxInt32)), int(r.Uint(math.MaxInt32))
	n := r.Count(minGroup(columns))
	var last columnar.Group
	for range n {
		g := readGroup(r, columns)
		if g.Rows == 0 || !follows(&g, &last) {
			r.Fail("a group of %d rows from row %d of chunk %d", g.Rows, g.Skip, g.Chunk)
			return New(columns)
		}
		c.groups, last = append(c.groups, g), g
	}
	g := readGroup(r, columns)
	if !follows(&g, &last) || g.Chunk > c.chunk {
		r.Fail("a last group from row %d of chunk %d", g.Skip, g.Chunk)
	}
	if r.Err() != nil {
		return New(columns)
	}
	c.begin = columnar.Group{Chunk: g.Chunk, Skip: g.Skip}
	c.Reset(g.Rows, g.Columns)
	return c
}

// follows reports whether a group can begin where it does after another one.
func follows(g, last *columnar.Group) bool {
	return g.Chunk > last.Chunk || g.Chunk == last.Chunk && g.Skip >= last.Skip
}

// minGroup returns the least bytes that a group takes.
func minGroup(columns []columnar.Column) int {
	n := 3
	for i := range columns {
		if c := &columns[i]; c.Nullable || isText(c) || isNumber(c) {
			n++
		}
	}
	return n
}

// A writeGroup is written with what can be told of the type of each column:
//
//	| rows | chunk | skip | column … |
//
//	column: | nulls, if nullable | bytes, of text | of numbers, optional: min zigzag, max zigzag |
func writeGroup(w *indexfile.Writer, columns []columnar.Column, g *columnar.Group) {
	w.Count(g.Rows)
	w.Count(g.Chunk)
	w.Count(g.Skip)
	for i := range g.Columns {
		c, n := &columns[i], &g.Columns[i]
		if c.Nullable {
			w.Size(n.Nulls)
		}
		switch {
		case isText(c):
			w.Size(n.Bytes)
		case isNumber(c):
			w.Bool(n.Bounded)
			if n.Bounded {
				w.Int(n.Min)
				w.Int(n.Max)
			}
		}
	}
}

func readGroup(r *indexfile.Reader, columns []columnar.Column) columnar.Group {
	g := columnar.Group{
		Rows: int(r.Uint(columnar.MaxGroupRows)), Chunk: int(r.Uint(math.MaxInt32)), Skip: int(r.Uint(math.MaxInt32)),
		Columns: make([]columnar.Counts, len(columns)),
	}
	for i := range columns {
		c, n := &columns[i], &g.Columns[i]
		if c.Nullable {
			n.Nulls = int64(r.Uint(uint64(g.Rows)))
		}
		switch {
		case isText(c):
			n.Bytes = int64(r.Uint(math.MaxInt32))
		case isNumber(c):
			if n.Bounded = r.Bool(); n.Bounded {
				n.Min, n.Max = r.Int(), r.Int()
			}
		}
	}
	return g
}

func isText(c *columnar.Column) bool { return c.Type == columnar.Text && c.Words == nil }

func isNumber(c *columnar.Column) bool {
	return c.Type != columnar.Text && c.Type != columnar.Texts && c.Type != columnar.Bool
}
