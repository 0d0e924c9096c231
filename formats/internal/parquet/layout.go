package parquet

import (
	"context"
	"errors"
	"fmt"
	"math"

	"recfs/formats/columnar"
	"recfs/nodes"
)

// LayoutNumber is that of the layout of all tables. It is raised whenever a table of the same rows
// gets another size, as sizes are kept on disk.
const LayoutNumber = 3

// A Layout knows where everything in the file of a table is, without a row of it.
type Layout struct {
	table  columnar.Table
	groups []span // of each row group in the file
	zeros  int64  // before the footer, behind those that are there anyway: see tail and [Named]
	footer []byte // to the end of the file
}

// A span is a part of a file. Zeros may follow it.
type span struct{ start, end int64 }

// block is what a system reads at least, and that at multiples of it.
const block = 4096

// next returns where the bytes behind a span begin: behind its last block, if it is longer than
// one. So a read of the footer, or of the start of a row group, does not make the group before.
func (s span) next() int64 {
	if s.end-s.start <= block {
		return s.end
	}
	return (s.end + block - 1) / block * block
}

// DuckDB reads tail bytes of any file at first. In a table of many row groups no group is in these,
// so that to count its rows makes none: nothing is asked for where the source is on a server.
const (
	tail       = 256 << 10
	manyGroups = 32
)

// errTooLarge says that a page has more bytes than a page header can tell.
var errTooLarge = fmt.Errorf("a page of more than %d bytes: %w", math.MaxInt32, errors.ErrUnsupported)

// NewLayout returns the layout of a table.
func NewLayout(t columnar.Table, metadata ...Pair) (*Layout, error) {
	l := &Layout{table: t, groups: make([]span, 0, len(t.Groups))}
	for i := range t.Groups {
		size := int64(0)
		for c := range t.Columns {
			p := planOf(&t.Columns[c], &t.Groups[i], c)
			if p.page > math.MaxInt32 || p.dictionary > math.MaxInt32 {
				return nil, errTooLarge
			}
			size += p.total()
		}
		start := l.end()
		l.groups = append(l.groups, span{start, start + size})
	}
	l.footer = makeFooter(&l.table, l.chunks, metadata)
	if len(l.groups) >= manyGroups {
		l.zeros = max(0, tail-int64(len(l.footer)))
	}
	return l, nil
}

// Size returns how many bytes the file has.
func (l *Layout) Size() int64 { return l.end() + int64(len(l.footer)) }

// end returns where what follows the row groups so far begins.
func (l *Layout) end() int64 {
	if n := len(l.groups); n > 0 {
		return l.groups[n-1].next() + l.zeros
	}
	return int64(len(Magic))
}

// Cost returns about how many bytes the layout keeps alive.
func (l *Layout) Cost() int64 {
	const each, origin = 48, 48 // of Counts, and a share of its Group
	n := 512 + int64(cap(l.footer)) + int64(len(l.groups))*int64(16+each*(len(l.table.Columns)+1))
	for i := range l.table.Groups {
		for _, o := range l.table.Groups[i].Origins {
			n += int64(origin + len(o.Path))
		}
	}
	return n
}

// Content returns the file. group returns what Make does, and what to call when that is not used
// any more (see [nodes.NewLoans]); it is called for each read that touches the group, so it belongs
// in a Memo.
func (l *Layout) Content(group func(ctx context.Context, i int) ([]byte, func(lent int), error)) nodes.Content {
	footer := 1 + 2*len(l.groups) // after the magic, and each group with its zeros
	p := nodes.NewLoans(func(ctx context.Context, i int) ([]byte, func(int), error) {
		switch {
		case i == 0:
			return []byte(Magic), stays, nil
		case i == footer:
			return l.footer, stays, nil
		case i%2 == 1:
			return group(ctx, i/2)
		}
		return make([]byte, l.gap(i/2-1)), stays, nil
	})
	p.Add(int64(len(Magic)))
	for i, g := range l.groups {
		p.Add(g.end - g.start)
		p.Add(l.gap(i))
	}
	p.Add(int64(len(l.footer)))
	return p
}

// gap returns how many zeros follow group i.
func (l *Layout) gap(i int) int64 {
	if i == len(l.groups)-1 {
		return l.end() - l.groups[i].end
	}
	return l.groups[i].next() - l.groups[i].end
}

// stays is called when bytes are not used any more that need not be given back.
func stays(int) {}

// chunks appends what the footer says of row group i.
func (l *Layout) chunks(list []chunk, i int) []chunk {
	off := l.groups[i].start
	for c := range l.table.Columns {
		p := planOf(&l.table.Columns[c], &l.table.Groups[i], c)
		one := chunk{column: &l.table.Columns[c], values: p.values, offset: off, data: p.start(), plain: p.total(), size: p.total()}
		one.counted(&l.table.Groups[i].Columns[c])
		if one.column.Origin && one.column.Type == columnar.Text {
			one.boundEntries(originDictionary(one.column, l.table.Groups[i].Origins))
		}
		list = append(list, one)
		off += p.total()
	}
	return list
}

// groupSize returns how many bytes row group i has.
func (l *Layout) groupSize(i int) int64 { return l.groups[i].end - l.groups[i].start }

// A plan is what the chunk of a column in a row group is made of, in bytes. A chunk is a dictionary
// page, if the column has Words, and one data page:
//
//	| page header | 4 u32, text … | page header | repetition levels | definition levels | values |
//	|<------- dictionary -------->|<------------------------- data ------------------------------>|
//
// Levels are there for columns that can hold nulls or lists: their number of bytes, 4 u32, and one
// bit-packed run, so that their number follows from that of the rows.
type plan struct {
	values     int   // how many the data page has, nulls among them
	head       int   // of the data page
	page       int64 // without head
	stored     int64 // of page, values other than lists
	dictHead   int   // of the dictionary page; 0: there is none
	dictionary int64 // without dictHead
}

// total returns the bytes of the chunk.
func (p *plan) total() int64 { return p.start() + int64(p.head) + p.page }

// start returns where in the chunk the data page begins.
func (p *plan) start() int64 { return int64(p.dictHead) + p.dictionary }

// planOf returns the plan of column i in a group.
func planOf(c *columnar.Column, g *columnar.Group, i int) plan {
	var scratch [64]byte // for the headers
	n := &g.Columns[i]
	p := plan{values: g.Rows}
	if c.Origin {
		d := originDictionary(c, g.Origins)
		if d != nil {
			p.dictionary = int64(len(d.page))
			p.dictHead = len(dictionaryHeader(scratch[:0], p.dictionary, p.dictionary, d.n))
		}
		p.page = int64(len(appendOrigins(nil, c, d, g.Origins)))
		p.head = len(dataHeader(scratch[:0], p.page, p.page, p.values, d.orElse(plainEncoding)))
		return p
	}
	if c.Type == columnar.Texts {
		p.values = int(n.Items + n.Empty)
		p.page = levelsSize(p.values, 1) + levelsSize(p.values, 2) + 4*n.Items + n.Bytes
		p.head = len(dataHeader(scratch[:0], p.page, p.page, p.values, plainEncoding))
		return p
	}
	if c.Nullable {
		p.page = levelsSize(p.values, 1)
	}
	p.stored = valuesSize(c, int64(g.Rows)-n.Nulls, n.Bytes)
	p.page += p.stored
	encoding := plainEncoding
	if c.Words != nil {
		encoding = dictionaryEncoding
		p.dictionary = wordsSize(c.Words)
		p.dictHead = len(dictionaryHeader(scratch[:0], p.dictionary, p.dictionary, len(c.Words)))
	}
	p.head = len(dataHeader(scratch[:0], p.page, p.page, p.values, encoding))
	return p
}

// valuesSize returns how many bytes n values of a column take that have so much text.
func valuesSize(c *columnar.Column, n, text int64) int64 {
	if c.Words != nil {
		return 1 + runSize(int(n), indexWidth(len(c.Words)))
	}
	switch c.Type {
	case columnar.Bool:
		return (n + 7) / 8
	case columnar.Int32, columnar.Float:
		return 4 * n
	case columnar.Int64, columnar.Time, columnar.Double:
		return 8 * n
	}
	return 4*n + text
}

// ValuesSize returns about how many bytes the values of a row group take.
func ValuesSize(t *columnar.Table, group int) (n int64) {
	for c := range t.Columns {
		p := planOf(&t.Columns[c], &t.Groups[group], c)
		n += p.page
	}
	return n
}
