// Package rowcount counts the rows of a table in the pass that makes an index, and keeps the counts
// in the saved index: what the size and the footer of the table follow from (docs/tree/tables.md
// section 1).
package rowcount

import (
	"math"
	"slices"
	"unsafe"

	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
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
	if c.NextChunk(); c.Rows() >= columnar.GroupRows {
		c.cut(0)
	}
}

// NextChunk ends a chunk within a group, unless that has no rows yet.
func (c *Counter) NextChunk() {
	if c.chunk, c.rows = c.chunk+1, 0; c.Rows() == 0 {
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
	const column, vector = 64, int(unsafe.Sizeof(columnar.Vector{})) + 8 // of a group, and of the Batch
	return int64(len(c.groups)*(len(c.Columns)+1)*column + len(c.Columns)*vector + 256)
}

// WriteRows writes the rows that a batch has kept, one after the other, and calls end after each.
// Their columns have neither words nor lists.
//
//	row: | bits of the columns that are null | value … |
//
// value: a number zigzag, a text, a flag u8, or the bytes of a Float or Double
func WriteRows(w *indexfile.Writer, b *columnar.Batch, end func()) {
	at := make([]int, len(b.Columns)) // the next value of each column
	nulls := make([]byte, (len(at)+7)/8)
	for row := range b.Rows() {
		clear(nulls)
		for i := range b.Columns {
			if v := &b.Columns[i]; v.Nullable && !v.Valid[row] {
				nulls[i/8] |= 1 << (i % 8)
			}
		}
		for _, bits := range nulls {
			w.U8(bits)
		}
		for i := range b.Columns {
			if nulls[i/8]>>(i%8)&1 == 0 {
				writeValue(w, &b.Columns[i], at[i])
				at[i]++
			}
		}
		end()
	}
}

func writeValue(w *indexfile.Writer, v *columnar.Vector, i int) {
	switch v.Type {
	case columnar.Bool:
		w.Bool(v.Bools[i])
	case columnar.Int32:
		w.Int(int64(v.Int32s[i]))
	case columnar.Int64, columnar.Time:
		w.Int(v.Int64s[i])
	case columnar.Float:
		w.F32(v.Floats[i])
	case columnar.Double:
		w.F64(v.Doubles[i])
	default:
		w.Blob(v.TextAt(i))
	}
}

// ReadRows adds so many rows, as they were written, to a batch.
func ReadRows(r *indexfile.Reader, b *columnar.Batch, rows int) {
	nulls := make([]byte, (len(b.Columns)+7)/8)
	for ; rows > 0 && r.Err() == nil; rows-- {
		copy(nulls, r.Bytes(len(nulls)))
		for i := range b.Columns {
			if nulls[i/8]>>(i%8)&1 == 1 {
				b.Null()
				continue
			}
			switch b.Columns[i].Type {
			case columnar.Bool:
				b.Bool(r.Bool())
			case columnar.Int32:
				b.Int32(r.Int32())
			case columnar.Int64, columnar.Time:
				b.Int64(r.Int())
			case columnar.Float:
				b.Float(r.F32())
			case columnar.Double:
				b.Double(r.F64())
			default:
				b.Bytes(r.Bytes(r.Count(1)))
			}
		}
	}
}

// CodeCounts writes or reads what is known of rows: a group, any column of which may have nulls.
func CodeCounts(c indexfile.Codec, columns []columnar.Column, g *columnar.Group) {
	codeGroup(c, columns, g, true)
}

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
		if codeGroup(c, columns, g, false); c.R != nil && (g.Rows == 0 || !follows(g)) {
			c.R.Fail("a group of %d rows from row %d of chunk %d", g.Rows, g.Skip, g.Chunk)
		}
		last = *g
	})
	codeGroup(c, columns, &open, false)
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

// maxBytes bounds the text of a column of a group, of which an index has so few that sums of them
// cannot overflow.
const maxBytes int64 = 1 << 40

// minGroup is the least bytes that a group takes.
const minGroup = 3

// codeGroup writes or reads a group, with what can be told of the type of each column, any of which
// may have nulls if nulls says so:
//
//	| rows | chunk | skip | column … |
//
// column: | nulls, if nullable | bytes, of text | of numbers, optional: min zigzag, max zigzag |
func codeGroup(c indexfile.Codec, columns []columnar.Column, g *columnar.Group, nulls bool) {
	indexfile.Uint(c, &g.Rows, columnar.MaxGroupRows)
	indexfile.Uint(c, &g.Chunk, math.MaxInt32)
	indexfile.Uint(c, &g.Skip, math.MaxInt32)
	if c.R != nil {
		g.Columns = make([]columnar.Counts, len(columns))
	}
	for i := range g.Columns {
		of, n := &columns[i], &g.Columns[i]
		if of.Nullable || nulls {
			indexfile.Uint(c, &n.Nulls, int64(g.Rows))
		}
		switch {
		case of.Type == columnar.Text && of.Words == nil:
			indexfile.Uint(c, &n.Bytes, maxBytes)
		case of.Type != columnar.Text && of.Type != columnar.Texts && of.Type != columnar.Bool:
			if c.Values(&n.Bounded); n.Bounded {
				c.Int(&n.Min)
				c.Int(&n.Max)
			}
		}
	}
}
